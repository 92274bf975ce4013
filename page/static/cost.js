// What the run used: in all, by role and by step. Unknown is said, and is not 0.

import { el, fill } from "./dom.js";
import { number, seconds, t, word } from "./words.js";

const COLUMNS = ["calls", "tokens_in", "tokens_out", "cached", "reasoning", "money"];

export function costPart() {
  const node = el("div", {});
  return {
    node,
    show(view, patch) {
      if (!("outcome" in patch) && !patch.steps) return;
      const usage = view.outcome?.usage;
      const steps = view.steps.filter((step) => step.usage.calls).map((step) => [step.id, step.usage]);
      fill(
        node, usage ? total(usage, view.outcome.models) : el("p", { class: "soft" }, t("cost_later")),
        ...table(t("role"), Object.entries(usage?.roles ?? {}).map(([role, used]) => [word("roles", role), used])),
        ...table(t("event_step"), steps),
      );
    },
  };
}

function total(usage, models) {
  const unknown = (sum, missing, calls) => (!missing ? number(sum) : missing >= calls ? t("unknown") : t("and_unknown", { sum: number(sum), n: missing }));
  const facts = [
    [t("model_calls"), number(usage.model_calls)], [t("tool_calls"), number(usage.tool_calls)],
    [t("all_tokens"), unknown(usage.tokens, usage.unknown_tokens, usage.model_calls)],
    [t("money"), unknown(usage.money, usage.unknown_money, usage.model_calls)], [t("work_time"), seconds(usage.seconds)],
    [t("models"), [...new Set(Object.values(models ?? {}))].join(", ")],
  ];
  return el("dl", { class: "tiles" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function table(head, rows) {
  if (!rows.length) return [];
  const heads = [head, ...COLUMNS.map((name) => t(`cost_${name}`))].map((name) => el("th", { scope: "col" }, name));
  const lines = rows.map(([name, used]) => el("tr", {}, el("th", { scope: "row" }, name), COLUMNS.map((column) => el("td", {}, number(used[column])))));
  return [el("div", { class: "scroll" }, el("table", { class: "numbers" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, lines)))];
}
