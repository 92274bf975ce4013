// One step in detail: what was planned, what was called, what came of it, what it took and cost.

import { chip, el } from "./dom.js";
import { cost, took } from "./graph.js";
import { t, word } from "./words.js";

export function stepDetails(step, thread, close) {
  return [
    el("div", { class: "line" }, el("h2", {}, `${step.id}: ${step.tool}`), el("span", { class: "spring" }), close && el("button", { class: "quiet", on: { click: close } }, t("close"))),
    el("p", { class: "line" }, chip(step.state, word("states", step.state)), ...marks(step)),
    step.reason && el("p", {}, step.reason),
    step.answered && el("p", { class: "soft" }, t("answered_waits")),
    step.why && el("p", { class: step.failure ? "wrong" : "soft" }, step.why),
    facts(step),
    ...outputs(step, thread),
    ...checks(step),
  ].filter(Boolean);
}

function marks(step) {
  const said = [took(step), cost(step.usage), step.slow && t("slow"), step.attempts > 1 && t("tries", { n: step.attempts }), t("plan_n", { n: step.version })];
  return [step.write && el("span", { class: "write" }, t("write")), step.critical && el("span", { class: "write" }, t("critical")), el("span", { class: "soft" }, said.filter(Boolean).join(" · "))];
}

function facts(step) {
  const list = [
    [t("arguments"), pretty(step.args && Object.keys(step.args).length ? step.args : step.planned)],
    [t("waits_for"), step.waits.join(", ")],
    [t("each_of"), step.each], [t("only_if"), step.when], [t("accepted_if"), step.accept.join("\n")],
    [t("fallback"), step.fallback ? pretty(step.fallback) : ""],
  ];
  return el("dl", {}, list.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, el("pre", {}, value))]));
}

export function outputs(step, thread) {
  const found = [];
  if (step.output !== null) found.push(el("h3", {}, t("output")), el("pre", { class: "output" }, step.output));
  if (step.artefact) found.push(artefact(step, thread));
  if (step.parts.length) found.push(el("h3", {}, t("parts_n", { n: step.parts.length })), el("ol", {}, step.parts.map((part) => el("li", {}, `${word("results", part.status)}${part.why ? `: ${part.why}` : ""} `, part.output === null ? "" : el("code", {}, part.output)))));
  return found;
}

function artefact(step, thread) {
  const href = `data/runs/${encodeURIComponent(thread)}/artefacts/${encodeURIComponent(step.artefact)}`;
  return el("p", {}, el("a", { href, class: "button", download: true }, t("whole_result")), " ", el("code", { class: "soft" }, step.artefact));
}

function checks(step) {
  if (!step.checks.length) return [];
  const one = (check) => el("li", {}, chip({ passed: "done", failed: "failed" }[check.outcome] ?? "unknown", word("checks", check.outcome)), " ", el("code", {}, check.condition), " ", el("span", { class: "soft" }, check.evidence));
  return [el("h3", {}, t("checks")), el("ul", { class: "plain" }, step.checks.map(one))];
}

export function pretty(value) {
  if (value === null || value === undefined || value === "") return "";
  if (typeof value === "string") return value;
  const short = JSON.stringify(value);
  return short.length <= 72 ? short : JSON.stringify(value, null, 2);
}
