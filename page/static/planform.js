// A plan to be changed: the arguments of each step as fields, steps that are left out, and all of it as JSON for the rest.

import { el } from "./dom.js";
import { field, readAll } from "./fields.js";
import { t } from "./words.js";

export function planForm(value) {
  const [action] = value.action_requests;
  const { goal, steps } = action.args;
  const goalField = field("goal", { type: "string" }, { given: goal, long: true });
  const parts = steps.map(stepForm);
  const whole = field("steps", { type: "array", items: { type: "object" } }, { given: steps, help: t("as_json_help") });
  function read() {
    const said = whole.read() ?? [];
    const asJson = JSON.stringify(said) !== JSON.stringify(steps);
    const left = asJson ? said : parts.filter((part) => !part.out()).map((part) => part.read());
    return { type: "edit", edited_action: { name: action.name, args: { goal: goalField.read() ?? "", steps: left } } };
  }
  return { nodes: [goalField.node, ...parts.map((part) => part.node), el("details", {}, el("summary", {}, t("as_json")), whole.node)], read };
}

function stepForm(step) {
  const fields = Object.entries(step.args).map(([name, value]) => field(name, { type: typeof value === "string" ? "string" : "object" }, { given: value, long: true }));
  const out = el("input", { type: "checkbox", "data-out": step.id });
  const grid = el("div", {}, fields.map((one) => one.node));
  out.addEventListener("change", () => { grid.hidden = out.checked; });
  return {
    node: el(
      "fieldset", {}, el("legend", {}, `${step.id} · ${step.tool}`), step.why && el("p", { class: "help" }, step.why),
      grid, el("label", { class: "line check" }, out, t("leave_out")),
    ),
    out: () => out.checked,
    read: () => ({ ...step, args: readAll(fields) }),
  };
}
