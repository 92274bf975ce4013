// What came of the run: the answer, why it ended, and what a person should know about it.

import { el, fill } from "./dom.js";
import { pretty } from "./step.js";
import { t, word } from "./words.js";

const LISTS = ["missing", "writes", "risks", "people", "notes"];

export function outcomePart() {
  const node = el("section", { class: "card outcome", "aria-label": t("answer"), hidden: true });
  return {
    node,
    show(view, patch) {
      if (!("outcome" in patch) && !patch.head) return;
      const { outcome, head } = view;
      node.hidden = !outcome || head.status === "running" || head.status === "waiting";
      if (node.hidden) return;
      fill(
        node,
        outcome.answer !== null && el("h2", {}, t("answer")),
        outcome.answer !== null && el("pre", { class: "answer" }, pretty(outcome.answer)),
        el("p", { class: "soft" }, `${word("stops", outcome.stop.reason)}: ${outcome.stop.message}`),
        outcome.would_take && el("p", {}, outcome.would_take),
        outcome.answered_by && el("p", { class: "soft" }, t("answered_by", { who: word("by", outcome.answered_by) })),
        ...LISTS.filter((name) => outcome[name]?.length).map((name) => list(name, outcome[name])),
      );
    },
  };
}

function list(name, lines) {
  return el("div", { class: `list ${name}` }, el("h3", {}, t(name)), el("ul", {}, lines.map((line) => el("li", {}, line))));
}
