// The plan as it runs: the graph, and one step of it in detail.

import { el, fill } from "./dom.js";
import { graphView } from "./graph.js";
import { stepDetails } from "./step.js";
import { seconds, t } from "./words.js";

export function planPart() {
  let view;
  let picked = null;
  const details = el("aside", { class: "details", "aria-label": t("step_details") });
  const graph = graphView(pick);
  const empty = el("p", { class: "soft" }, t("no_plan"));
  const node = el("div", { class: "plan" }, empty, graph.node, details);
  new ResizeObserver(() => view && graph.fit(timed(view))).observe(graph.node);

  function pick(id) {
    picked = picked === id ? null : id;
    graph.pick(picked);
    drawDetails();
    graph.update(timed(view));
  }

  function drawDetails() {
    const step = view.steps.find((one) => one.id === picked);
    details.hidden = !step;
    node.classList.toggle("split", Boolean(step));
    fill(details, step && stepDetails(step, view.head.thread, () => pick(picked)));
  }

  return {
    node,
    show(next, patch) {
      view = next;
      empty.hidden = view.steps.length > 0;
      empty.textContent = t(view.head.status === "running" ? "no_plan" : "no_plan_came");
      graph.node.hidden = !view.steps.length;
      if (patch.graph) graph.draw(patch.graph, timed(view));
      if (patch.steps) {
        graph.update(timed(view));
        drawDetails();
      }
    },
    tick: (next) => graph.update(timed(next)),
    shown: () => view && graph.fit(timed(view)),
  };
}

// The steps, with the time that running ones have taken so far.
function timed(view) {
  const now = Date.now() / 1000 - view.skew;
  return view.steps.map((step) => (step.began && step.state === "running" ? { ...step, running: seconds(Math.max(0, now - step.began)) } : step));
}

