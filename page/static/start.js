// The form that starts a run, made from the schemas that the server gives for a pattern.

import { el, fill } from "./dom.js";
import * as api from "./api.js";
import { field, kindOf, readAll, settled } from "./fields.js";
import { help, t, word } from "./words.js";

const FIRST = ["model", "writes", "approve_plan", "check_after", "root", "language", "dry_run"];
const ORDER = ["one_shot", "plan_and_execute", "self_reflection", "rewoo", "react", "plan_and_solve", "reflection", "workflow", "plan_act_reflect", "combined", "auto"];
const USUAL = "plan_and_execute";

export function showStart(main, thread) {
  const place = el("div", {}, el("p", { class: "soft" }, t("loading")));
  fill(main, el("div", { class: "head" }, el("h1", {}, t(thread ? "follow_up" : "new_run"))), place);
  api.patterns().then((found) => drawForm(place, sorted(found), thread), (error) => fill(place, el("p", { class: "wrong" }, t("no_server", { why: error.message }))));
  return () => {};
}

function sorted(found) {
  const rank = (one) => (ORDER.indexOf(one.graph_id) + 1 || 99);
  const plain = found.filter((one) => one.metadata?.created_by === "system");
  const each = new Map((plain.length ? plain : found).map((one) => [one.graph_id, one]));
  return [...each.values()].sort((a, b) => rank(a) - rank(b));
}

async function drawForm(place, found, thread) {
  const pattern = patternField(found);
  const fields = el("div", {});
  let known = "";
  let form;
  async function renew() {
    const schemas = await api.schemas(pattern.chosen().assistant_id);
    const now = JSON.stringify([schemas.input_schema, schemas.context_schema], withoutNodes);
    if (now === known) return; // what was typed stays
    known = now;
    form = formOf(schemas);
    const more = el("details", { class: "more" }, el("summary", {}, t("more_input")), form.more.map((one) => one.node));
    fill(fields, form.task.node, pattern.node, more, form.settings.node);
  }
  pattern.node.addEventListener("change", renew);
  await renew();
  const wrong = el("p", { class: "wrong", role: "alert", hidden: true });
  const go = el("button", { class: "primary", type: "submit" }, t("start"));
  async function submit(event) {
    event.preventDefault();
    wrong.hidden = true;
    let said;
    try { said = readForm(form); } catch { return; } // the field says what is wrong with it
    go.disabled = true;
    try {
      location.hash = `#/run/${await api.start(pattern.chosen().graph_id, said.input, said.context, thread)}`;
    } catch (error) {
      go.disabled = false;
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
  }
  fill(place, el("form", { class: "card form", novalidate: true, on: { submit } }, fields, wrong, el("div", { class: "buttons" }, go)));
  place.querySelector("textarea").focus();
}

// At which nodes of a pattern a setting counts makes no other form.
function withoutNodes(name, value) {
  return name === "langgraph_nodes" || name === "title" ? undefined : value;
}

function patternField(found) {
  const select = el("select", { id: "pattern" }, found.map((one) => el("option", { value: one.graph_id }, word("patterns_short", one.graph_id))));
  select.value = found.some((one) => one.graph_id === USUAL) ? USUAL : found[0].graph_id;
  const chosen = () => found.find((one) => one.graph_id === select.value);
  const about = el("p", { class: "help" });
  const drawn = el("img", { class: "wiring", alt: "" });
  const wiring = el("details", {}, el("summary", {}, t("how_wired")), el("div", { class: "scroll" }, drawn));
  const renew = () => {
    about.textContent = help("patterns", select.value) ?? chosen().description ?? "";
    if (wiring.open) drawn.src = `data/patterns/${encodeURIComponent(select.value)}.svg`;
  };
  wiring.addEventListener("toggle", renew);
  select.addEventListener("change", renew);
  renew();
  return { node: el("div", { class: "field" }, el("label", { for: "pattern" }, t("pattern")), select, about, wiring), chosen };
}

function formOf(schemas) {
  return {
    task: taskField(), more: inputFields({ ...schemas.state_schema?.properties, ...schemas.input_schema?.properties }),
    settings: settingFields(schemas.context_schema ?? {}),
  };
}

function readForm({ task, more, settings }) {
  return { input: { task: task.read(), ...readAll(more) }, context: settings.read() };
}

function taskField() {
  return field(t("task"), { type: "string" }, { long: true, help: t("task_help"), required: true });
}

function inputFields(taken) {
  const types = { constraints: ["string", "object", "array"], inputs: "object" };
  return Object.keys(types).filter((name) => name in taken).map((name) => Object.assign(field(t(name), { type: types[name] }, { help: t(`${name}_help`), long: true }), { name }));
}

function settingFields(context) {
  const defs = context.$defs ?? {};
  const every = Object.entries(context.properties ?? {}).filter(([name]) => name !== "replay").map(([name, schema]) => setting(name, settled(schema, defs), defs));
  const first = FIRST.map((name) => every.find((one) => one.name === name)).filter(Boolean);
  const rest = every.filter((one) => !first.includes(one));
  const filter = el("input", { type: "search", placeholder: t("filter_settings"), "aria-label": t("filter_settings"), on: { input: () => rest.forEach((one) => { one.node.hidden = !matches(one, filter.value); }) } });
  const rests = el("details", { class: "rest" }, el("summary", {}, t("all_settings", { n: rest.length })), filter, rest.map((one) => one.node));
  const node = el("details", { class: "settings" }, el("summary", {}, t("settings")), first.map((one) => one.node), rests);
  return { node, read: () => readAll(every) };
}

function matches(one, text) {
  return one.node.textContent.toLowerCase().includes(text.trim().toLowerCase());
}

function setting(name, schema, defs) {
  const said = help("settings", name) ?? schema.description?.replace(/([^\n])\n(?!\n)/g, "$1 ");
  if (kindOf(schema) !== "group") return Object.assign(field(name, schema, { help: said, long: schema.langgraph_type === "prompt" }), { name });
  const parts = Object.entries(schema.properties).map(([part, inner]) => {
    const found = settled(inner, defs);
    return field(part, found, { help: help(name, part) ?? found.description });
  });
  return {
    name,
    node: el("fieldset", {}, el("legend", {}, name), el("p", { class: "help" }, said), el("div", { class: "grid" }, parts.map((one) => one.node))),
    read() {
      const given = readAll(parts);
      return Object.keys(given).length ? given : undefined;
    },
  };
}

