// The ways to answer a request: those that it allows, each with what it takes.

import { el, fill } from "./dom.js";
import { field, kindOf, readAll, settled } from "./fields.js";
import { planForm } from "./planform.js";
import { t } from "./words.js";

const WORDS = { reconcile: { approve: "it_happened", reject: "it_did_not" }, question: { approve: "try_again", reject: "leave_it" }, undo: { approve: "undo", reject: "keep_it" } };
const ORDER = ["respond", "approve", "edit", "reject"];

export function answerForms(ask, send) {
  const { value } = ask;
  const [review] = value.review_configs;
  const place = el("div", { class: "answerform" });
  const wrong = el("p", { class: "wrong", role: "alert", hidden: true });
  const sorted = ORDER.filter((way) => review.allowed_decisions.includes(way));
  if (value.kind !== "question") sorted.sort((a, b) => (a === "respond") - (b === "respond"));
  const first = sorted[0];
  const buttons = sorted.map((way) => el("button", { type: "button", class: way === first ? "primary" : way === "reject" ? "danger" : "", "data-way": way, on: { click: () => choose(way) } }, t(nameOf(value, way))));
  const bar = el("div", { class: "buttons" }, buttons);

  async function give(decision) {
    wrong.hidden = true;
    const all = [...bar.querySelectorAll("button"), ...place.querySelectorAll("button")];
    all.forEach((one) => { one.disabled = true; });
    try {
      await send(decision);
    } catch (error) {
      all.forEach((one) => { one.disabled = false; });
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
  }

  function choose(way) {
    if (way === "approve") return give({ type: "approve" });
    const form = FORMS[way](value);
    const submit = (event) => {
      event.preventDefault();
      let decision;
      try { decision = form.read(); } catch { return; }
      give(decision);
    };
    buttons.forEach((one) => one.setAttribute("aria-expanded", String(one.dataset.way === way)));
    fill(place, el(
      "form", { novalidate: true, on: { submit } }, form.nodes,
      el("div", { class: "buttons" }, el("button", { class: way === "reject" ? "danger" : "primary", type: "submit" }, t(`send_${way}`)), el("button", { type: "button", class: "quiet", on: { click: () => { fill(place); bar.querySelector(`[data-way=${way}]`).focus(); } } }, t("cancel"))),
    ));
    place.querySelector("input, textarea, select")?.focus();
  }

  return el("div", {}, bar, wrong, place);
}

function nameOf(value, way) {
  if (value.about === "result" && way === "approve") return "take_result";
  if (value.input && way === "reject") return "nobody_knows";
  if (way === "respond") return value.kind === "plan" ? "say_to_planner" : value.kind === "approval" ? "answer_instead" : "answer_it";
  return WORDS[value.kind]?.[way] ?? way;
}

const FORMS = {
  reject() {
    const why = Object.assign(field(t("why_not"), { type: "string" }, { long: true }), { name: "message" });
    return { nodes: [why.node], read: () => ({ type: "reject", ...readAll([why]) }) };
  },
  respond(value) {
    const schema = settled(value.answer_schema ?? { type: "string" }, value.answer_schema?.$defs);
    const named = value.argument ?? value.input ?? t(value.kind === "plan" ? "words_for_planner" : "your_answer");
    const said = field(named, schema, { long: kindOf(schema) === "text", help: schema.description });
    return { nodes: [said.node], read: () => ({ type: "respond", message: said.read() ?? "" }) };
  },
  edit(value) {
    if (value.kind === "plan") return planForm(value);
    const [action] = value.action_requests;
    const schema = value.review_configs[0].args_schema ?? {};
    const given = action.args;
    const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => editField(name, settled(part, schema.$defs), given, schema.required ?? []));
    const others = Object.fromEntries(Object.entries(given).filter(([name]) => !(name in (schema.properties ?? {}))));
    return {
      nodes: fields.map((one) => one.node),
      read: () => ({ type: "edit", edited_action: { name: action.name, args: { ...others, ...readAll(fields) } } }),
    };
  },
};

function editField(name, schema, given, required) {
  return field(name, schema, { given: given[name], help: schema.description, long: kindOf(schema) === "text", required: required.includes(name) });
}
