// What each step gave, with whole results to keep; and what was judged, thought and drafted.

import { chip, el, fill } from "./dom.js";
import { outputs } from "./step.js";
import { t, word } from "./words.js";

const SAID = ["sources", "verdict", "reflections", "thoughts", "drafts", "lessons", "undo", "chosen", "estimate", "models"];

export function resultsPart() {
  const node = el("div", { class: "results" });
  return {
    node,
    show(view, patch) {
      if (!patch.steps && !("outcome" in patch)) return;
      const open = new Set([...node.querySelectorAll("details[open]")].map((one) => one.dataset.name));
      fill(node, view.steps.map((step) => result(step, view.head.thread, open)), ...said(view.outcome, open));
      if (!node.children.length) fill(node, el("p", { class: "soft" }, t("no_results")));
    },
  };
}

function result(step, thread, open) {
  const found = outputs(step, thread);
  const name = `step ${step.id}`;
  const head = el("summary", {}, chip(step.state, word("states", step.state)), " ", el("b", {}, step.id), ` ${step.tool} `, el("span", { class: "soft" }, step.why || (step.output ?? "").slice(0, 120)));
  return el("details", { "data-name": name, open: open.has(name) }, head, ...(found.length ? found : [el("p", { class: "soft" }, t("no_output"))]));
}

function said(outcome, open) {
  const found = SAID.filter((name) => outcome?.[name] && (!Array.isArray(outcome[name]) || outcome[name].length) && Object.keys(outcome[name]).length);
  return found.map((name) => el("details", { "data-name": name, open: open.has(name) }, el("summary", {}, el("b", {}, t(`said_${name}`))), record(outcome[name])));
}

// A record as names and values, a list of them one below the other: thoughts, drafts, verdicts as they are kept.
function record(value) {
  if (Array.isArray(value)) return value.length ? el("ol", { class: "records" }, value.map((one) => el("li", {}, record(one)))) : "—";
  if (value === null || typeof value !== "object") return el("span", { class: "plaintext" }, value === null || value === "" ? "—" : String(value));
  const said = Object.entries(value).filter(([, one]) => one !== null && one !== "" && !(Array.isArray(one) && !one.length));
  return el("dl", {}, said.flatMap(([name, one]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, record(one))]));
}
