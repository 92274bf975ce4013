// One run: its head, what waits for a person, what came of it, and its parts in tabs; renewed by the patches of the server.

import { chip, el, fill, say } from "./dom.js";
import * as api from "./api.js";
import { asksPart, overruled, taken } from "./asks.js";
import { costPart } from "./cost.js";
import { eventsPart } from "./events.js";
import { outcomePart } from "./outcome.js";
import { planPart } from "./plan.js";
import { resultsPart } from "./results.js";
import { timePart } from "./time.js";
import { versionsPart } from "./versions.js";
import { stopState } from "./runs.js";
import { seconds, t, word } from "./words.js";

const TABS = { plan: planPart, time: timePart, versions: versionsPart, events: eventsPart, results: resultsPart, cost: costPart };
const EVERY = 3000;

export function showRun(main, thread, tab) {
  const view = { head: null, rows: Object.create(null), steps: [], events: [], asks: [], skew: 0 };
  const act = (work) => work().then(() => watch(), (error) => wrong(error.message));
  const head = el("header", { class: "runhead" });
  const problem = el("p", { class: "wrong", role: "alert", hidden: true });
  const given = new Map();
  const parts = [asksPart(answer), outcomePart()];
  const tabs = tabsPart(thread, tab);
  tabs.node.hidden = true;
  fill(main, head, problem, ...parts.map((part) => part.node), tabs.node);
  let close = () => {};
  let timer;
  let left = false;
  let mark = "";

  function wrong(text) {
    problem.textContent = text;
    problem.hidden = !text;
  }

  function answer(ask, decision) {
    const mark = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
    given.set(ask.value.id, { way: decision.type, mark, before: taken(view.events, ask.value.id).length });
    return api.resume(view.head, { [ask.id]: { decisions: [{ ...decision, mark }] } }).then(watch);
  }

  function see(patch) {
    if (left) return;
    take(view, patch);
    if (patch.over) return settle();
    try {
      draw(patch);
    } catch (error) { // what the server could read and the page can't
      close();
      console.error(error);
      failed(String(error), api.ODD);
    }
  }

  function draw(patch) {
    tabs.node.hidden = false;
    wrong(view.head.error || (overruled(view.events, given) ? t("overruled") : ""));
    drawHead(head, view, act, wrong);
    for (const part of [...parts, ...tabs.parts]) part.show(view, patch);
  }

  async function settle() {
    try { mark = await api.stamp(thread); } catch { mark = ""; }
    poll();
  }

  function poll() {
    clearTimeout(timer);
    if (!left) timer = setTimeout(async () => {
      try { if ((await api.stamp(thread)) !== mark) return watch(); } catch { /* the server is away; ask again */ }
      poll();
    }, EVERY);
  }

  async function watch() {
    clearTimeout(timer);
    close();
    close = api.live(thread, see, failed);
  }

  function failed(why, status) {
    if (left) return;
    wrong(why === null ? t("lost") : t("no_run", { why }));
    if (status === api.GONE || status === api.ODD) clear(status === api.ODD);
  }

  // Nothing stays of what was shown before; what holds what no run writes can still be deleted.
  function clear(there) {
    view.head = null;
    for (const part of [...parts, tabs]) part.node.hidden = true;
    fill(head, there && el("div", { class: "line" }, el("span", { class: "spring" }), removal(thread, wrong)));
    if (there) settle();
  }

  watch();
  const ticking = setInterval(() => view.head?.status === "running" && (drawTime(head, view), tabs.parts.forEach((part) => part.tick?.(view))), 500);
  const leave = () => {
    left = true;
    clearTimeout(timer);
    clearInterval(ticking);
    close();
  };
  leave.tab = tabs.choose;
  return leave;
}

function take(view, { events, steps, now, over, ...rest }) {
  Object.assign(view, rest);
  if (steps) {
    Object.assign(view.rows, steps.rows);
    view.steps = steps.order.map((id) => view.rows[id]);
  }
  if (now) view.skew = Date.now() / 1000 - now;
  if (events) view.events = [...view.events.slice(0, events.from), ...events.new];
}

function drawHead(place, view, act, wrong) {
  const { head } = view;
  const [state, said] = stateOf(view);
  if (place.dataset.state !== state + said) say(said);
  place.dataset.state = state + said;
  document.title = `${said} · ${head.task.slice(0, 60)}`;
  const name = head.task || t("no_task");
  fill(
    place,
    el("div", { class: "line" }, chip(state, said, "big"), el("span", { class: "soft" }, word("patterns_short", head.pattern)), el("span", { class: "soft", id: "took" }), el("span", { class: "spring" }), actions(view, act, wrong)),
    el("h1", { class: name.length > 160 ? "task long" : "task" }, name),
  );
  drawTime(place, view);
}

function drawTime(place, view) {
  const { head, outcome } = view;
  const took = head.status === "running" && head.began ? Date.now() / 1000 - view.skew - head.began : outcome?.usage?.seconds;
  place.querySelector("#took").textContent = took === undefined ? "" : seconds(Math.max(0, took));
}

function stateOf({ head, outcome, asks }) {
  if (head.status === "running") return ["running", word("phases", head.phase)];
  if (asks.length) return ["asks you", t("status_waiting")];
  if (head.status === "error") return ["failed", t("status_error")];
  if (head.status === "cut off") return ["not run", t("status_cut_off")];
  return outcome ? stopState(outcome.stop) : ["not run", t("status_new")];
}

function actions({ head, outcome }, act, wrong) {
  const button = (name, work, more = "") => el("button", { class: more, on: { click: (event) => { event.currentTarget.disabled = true; act(work); } } }, t(name));
  const id = encodeURIComponent(head.thread);
  const running = head.status === "running";
  return el(
    "span", { class: "buttons" },
    running && button("stop", () => api.stop(head.thread, head.run)),
    head.status === "cut off" && button("go_on", () => api.goOn(head), "primary"),
    head.status === "final" && outcome && el("a", { class: "button", href: `#/new/${id}` }, t("follow_up")),
    !running && outcome && el("a", { class: "button", href: `data/runs/${id}/report.html`, target: "_blank", rel: "noopener" }, t("report")),
    !running && removal(head.thread, wrong),
  );
}

function removal(thread, wrong) {
  const button = el("button", { class: "quiet" }, t("delete"));
  button.addEventListener("click", async () => {
    if (!confirm(t("delete_sure"))) return;
    try {
      await api.remove(thread);
    } catch (error) {
      if (error.status !== api.GONE) return wrong(error.message); // else somebody else was quicker
    }
    location.hash = "#/";
  });
  return button;
}

function tabsPart(thread, first) {
  const parts = Object.fromEntries(Object.entries(TABS).map(([name, make]) => [name, make()]));
  const links = {};
  const panels = {};
  const bar = el("div", { class: "tabs", role: "tablist", "aria-label": t("parts") });
  for (const name of Object.keys(TABS)) {
    links[name] = el("a", { href: `#/run/${encodeURIComponent(thread)}/${name}`, role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` }, t(`tab_${name}`));
    panels[name] = el("section", { id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, tabindex: "0" }, parts[name].node);
    bar.append(links[name]);
  }
  bar.addEventListener("keydown", (event) => {
    const names = Object.keys(TABS);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = names.findIndex((name) => links[name] === document.activeElement);
    if (!step || at < 0) return;
    const next = names[(at + step + names.length) % names.length];
    links[next].focus();
    links[next].click();
    event.preventDefault();
  });
  function choose(tab) {
    const chosen = Object.hasOwn(TABS, tab) ? tab : "plan";
    for (const name of Object.keys(TABS)) {
      const on = name === chosen;
      links[name].setAttribute("aria-selected", String(on));
      links[name].tabIndex = on ? 0 : -1;
      panels[name].hidden = !on;
    }
    parts[chosen].shown?.();
  }
  choose(first);
  return { node: el("div", { class: "card tabbed" }, bar, Object.values(panels)), parts: Object.values(parts), choose };
}
