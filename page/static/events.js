// The log of the run.

import { el, fill } from "./dom.js";
import { pretty } from "./step.js";
import { seconds, t, word } from "./words.js";

export function eventsPart() {
  const body = el("tbody", {});
  const filter = el("input", { type: "search", placeholder: t("filter_events"), "aria-label": t("filter_events") });
  const heads = ["time", "event", "step", "reason", "evidence", "next"].map((name) => el("th", { scope: "col" }, t(`event_${name}`)));
  const node = el("div", {}, el("p", {}, filter), el("div", { class: "scroll" }, el("table", { class: "log" }, el("thead", {}, el("tr", {}, heads)), body)));
  let shown = [];
  function draw() {
    const sorted = [...shown].sort((a, b) => a.time - b.time);
    const first = sorted[0]?.time;
    const wanted = filter.value.trim().toLowerCase();
    fill(body, sorted.map((event) => line(event, first)).filter((row) => row.textContent.toLowerCase().includes(wanted)));
  }
  filter.addEventListener("input", draw);
  return {
    node,
    show(view, patch) {
      if (!patch.events) return;
      shown = view.events;
      draw();
    },
  };
}

function line(event, first) {
  const evidence = event.evidence?.length ? JSON.stringify(event.evidence) : "";
  return el(
    "tr", { class: "event" },
    el("td", { class: "nowrap soft", "data-head": t("event_time") }, `+${seconds(event.time - first)}`),
    el("td", { class: "nowrap" }, el("b", { title: event.event }, word("events", event.event))),
    el("td", { "data-head": t("event_step") }, event.step && el("code", {}, event.step)),
    el("td", {}, event.reason),
    el("td", { "data-head": t("event_evidence") }, evidence.length > 160 ? el("details", {}, el("summary", {}, `${evidence.slice(0, 80)}…`), el("pre", {}, pretty(event.evidence))) : evidence && el("code", {}, evidence)),
    el("td", { "data-head": t("event_next") }, event.next),
  );
}
