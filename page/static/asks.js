// What waits for a person: each request a card, answered by itself; the run goes on with what is answered.

import { chip, el, fill } from "./dom.js";
import { answerForms } from "./answers.js";
import { pretty } from "./step.js";
import { t } from "./words.js";

// `send(ask, decision)` answers and resolves when the server has taken it.
export function asksPart(send) {
  const node = el("section", { class: "asks", "aria-label": t("status_waiting"), hidden: true });
  const cards = new Map();
  function show(view, patch) {
    if (!patch.asks && !patch.head) return;
    const running = view.head.status === "running";
    const asks = running ? [] : view.asks;
    const keys = new Map(asks.map((ask) => [`${ask.id} ${ask.value.problem ?? ""}`, ask]));
    for (const key of [...cards.keys()]) if (!keys.has(key)) cards.delete(key);
    for (const [key, ask] of keys) if (!cards.has(key)) cards.set(key, card(ask, send));
    node.hidden = !keys.size;
    const wanted = [...keys.keys()].map((key) => cards.get(key));
    if (wanted.length !== node.children.length || wanted.some((one, place) => node.children[place] !== one)) fill(node, wanted);
  }
  return { node, show };
}

// The answers that were taken for a request, which may be asked more than once.
export const taken = (events, id) => events.filter((one) => one.event === "answer" && one.evidence.includes(id));

// Whether somebody else's answer was taken where one was given here: `given` holds by request the way that was chosen
// here, the mark of the answer, and how many answers had been taken `before`. Two approvals are the same.
export function overruled(events, given) {
  return [...given].some(([id, { way, mark, before }]) => {
    const first = taken(events, id)[before];
    return first && (first.reason !== way || (way !== "approve" && first.evidence[1] !== mark));
  });
}

function card(ask, send) {
  const { value } = ask;
  const [action] = value.action_requests;
  const where = value.step ? `${value.step} · ${action.name}` : action.name;
  const plain = value.kind === "plan" ? planFacts(action.args) : argumentFacts(action.args, value.kind);
  return el(
    "article", { class: "card ask s-asks-you", "data-kind": value.kind, "data-ask": ask.id },
    el("div", { class: "line" }, chip("asks you", t(`kind_${value.kind}`)), value.kind !== "plan" && el("span", { class: "soft" }, where)),
    el("p", { class: "question" }, action.description),
    value.problem && el("p", { class: "wrong", role: "alert" }, t("problem", { why: value.problem })),
    plain,
    answerForms(ask, (decision) => send(ask, decision)),
  );
}

function argumentFacts(args, kind) {
  const shown = Object.entries(args).filter(() => kind !== "question" || args.input === undefined);
  return el("dl", { class: "arguments" }, shown.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, el("pre", {}, pretty(value) || "—"))]));
}

function planFacts(args) {
  const step = (one) => el("li", {}, el("b", {}, one.id), ` ${one.tool} `, el("code", {}, JSON.stringify(one.args)));
  return el("div", {}, args.goal && el("p", {}, args.goal), el("ol", { class: "steps" }, args.steps.map(step)));
}
