// The list of runs, renewed every few seconds.

import { chip, el, fill } from "./dom.js";
import * as api from "./api.js";
import { t, when, word } from "./words.js";

const EVERY = 3000;

export function showRuns(main) {
  const list = el("ul", { class: "runs" });
  const note = el("p", { class: "soft" }, t("loading"));
  fill(
    main,
    el("div", { class: "head" }, el("h1", {}, t("runs")), el("span", { class: "spring" }), el("a", { class: "button primary", href: "#/new" }, t("new_run"))),
    note,
    list,
  );
  let last = "";
  let timer;
  let left = false;
  async function renew() {
    try {
      const found = await api.runs();
      if (left) return;
      const now = JSON.stringify(found);
      note.textContent = found.length ? "" : t("no_runs");
      note.hidden = found.length > 0;
      if (now !== last) fill(list, found.map(line));
      last = now;
    } catch (error) {
      note.hidden = false;
      note.textContent = t("no_server", { why: error.message });
    }
    if (!left) timer = setTimeout(renew, EVERY);
  }
  renew();
  return () => {
    left = true;
    clearTimeout(timer);
  };
}

function line(run) {
  const [state, said] = stateOf(run);
  const about = [word("patterns_short", run.pattern), when(run.updated)].filter(Boolean).join(" · ");
  return el(
    "li", {},
    el(
      "a", { href: `#/run/${encodeURIComponent(run.thread)}`, class: "run" },
      chip(state, said), el("span", { class: "task" }, run.task || t("no_task")), el("span", { class: "soft about" }, about),
    ),
  );
}

// How a run stands, as a state with a colour and a sign, and in words.
export function stateOf(run) {
  if (run.status === "busy") return ["running", t("status_running")];
  if (run.open) return ["asks you", t("status_waiting")];
  if (run.status === "error") return ["failed", t("status_error")];
  if (run.stop) return stopState(run.stop);
  return ["not run", t(run.status === "interrupted" ? "status_cut_off" : "status_new")];
}

export function stopState(stop) {
  const state = { success: "done", failure: "failed", budget: "fallback", pause: "asks you" }[stop.kind] ?? "unknown";
  return [state, word("stops", stop.reason)];
}
