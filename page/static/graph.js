// A plan as boxes and lines. Where they stand the server says; here they are only put there.

import { el, fill, svg } from "./dom.js";
import { number, seconds, t, word } from "./words.js";

const SMALLEST = 0.62;

// `draw(graph, steps)`, `update(steps)`; `chosen(id)` is called when a box is chosen.
export function graphView(chosen, { down = false } = {}) {
  const inner = el("div", { class: "graph" });
  const node = el("div", { class: "graphbox" }, inner);
  let graph = null;
  let shape = "";
  let boxes = {};
  let picked = null;

  function draw(next, steps) {
    graph = next;
    fit(steps);
  }

  function fit(steps) {
    const room = node.clientWidth;
    if (!graph || !room) return;
    const whole = node.parentElement.clientWidth; // so that it doesn't turn when a step is chosen
    const layout = fitting(graph, whole, down);
    const listed = layout.width * SMALLEST > whole;
    const now = JSON.stringify([graph.nodes, layout, listed]);
    if (now !== shape) build(layout, listed);
    shape = now;
    const scale = listed ? 1 : Math.min(1, Math.max(SMALLEST, Math.floor((room / layout.width) * 100) / 100));
    inner.style.transform = scale === 1 ? "" : `scale(${scale})`;
    node.style.height = listed ? "" : `${Math.ceil(layout.height * scale) + 14}px`;
    update(steps);
  }

  function build(layout, listed) {
    inner.className = listed ? "graph listed" : "graph";
    boxes = Object.fromEntries(graph.nodes.map((one) => [one.id, box(one, chosen)]));
    if (listed) {
      Object.assign(inner.style, { width: "", height: "" });
      for (const [id, one] of Object.entries(boxes)) one.comesAfter(layout.lines.filter((line) => line.to === id).map((line) => line.from));
    } else {
      Object.assign(inner.style, { width: `${layout.width}px`, height: `${layout.height}px` });
      for (const [id, one] of Object.entries(boxes)) one.place(layout.boxes[id], graph.box);
    }
    fill(inner, !listed && linesOf(layout), ...Object.values(boxes).map((one) => one.node));
  }

  function update(steps) {
    for (const step of steps) boxes[step.id]?.show(step, step.id === picked);
  }

  return { node, draw, fit, update, pick: (id) => { picked = id; } };
}

function fitting(graph, room, down) {
  const ways = down ? [graph.down] : [graph.across, graph.down];
  return ways.find((one) => one.width <= room) ?? ways.reduce((a, b) => (b.width < a.width ? b : a));
}

let arrows = 0;

function linesOf(layout) {
  const name = `arrow${(arrows += 1)}`; // a marker of a hidden drawing is not drawn, so each has its own
  const head = svg("marker", { id: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8Z", class: "arrowhead" }));
  const lines = layout.lines.map(({ path, dashed }) => svg("path", { d: path, class: dashed ? "edge dashed" : "edge", "marker-end": `url(#${name})` }));
  return svg("svg", { width: layout.width, height: layout.height, "aria-hidden": "true", class: "lines" }, svg("defs", {}, head), ...lines);
}

const TROUBLE = ["failed", "blocked", "fallback", "unknown", "asks you"];

function box({ id, lines, write }, chosen) {
  const state = el("span", { class: "state" });
  const facts = el("span", { class: "facts" });
  const said = el("span", { class: "said" });
  const after = el("span", { class: "facts" });
  const node = el(
    chosen ? "button" : "div", { class: "node", type: chosen && "button", "data-step": id, on: { click: () => chosen?.(id) } },
    el("span", { class: "top" }, el("b", {}, id), el("span", { class: "tool" }, lines[0] ?? ""), write && el("span", { class: "write" }, t("write"))),
    said,
    el("span", { class: "foot" }, el("span", { class: "sign", "aria-hidden": "true" }), state, after, facts),
  );
  return {
    node,
    place([x, y], [width, height]) {
      Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    },
    comesAfter(names) {
      after.textContent = names.length ? t("after_steps", { steps: names.join(", ") }) : "";
    },
    show(step, picked) {
      node.className = `node s-${step.state.replaceAll(" ", "-")}${write ? " writes" : ""}${picked ? " picked" : ""}`;
      if (chosen) node.setAttribute("aria-pressed", String(Boolean(picked)));
      state.textContent = step.mark ?? word("states", step.state);
      said.textContent = (step.answered && t("answered_waits")) || (TROUBLE.includes(step.state) && step.why) || lines.slice(1).join(" · ");
      facts.textContent = [step.note, took(step), cost(step.usage)].filter(Boolean).join(" · ");
    },
  };
}

export function took(step) {
  return step.running ?? seconds(step.seconds);
}

export function cost(usage) {
  if (!usage?.calls) return "";
  const tokens = usage.tokens_in === null || usage.tokens_out === null ? null : usage.tokens_in + usage.tokens_out;
  return [tokens === null ? t("tokens_unknown") : t("tokens", { n: number(tokens) }), usage.money ? number(usage.money) : ""].filter(Boolean).join(" · ");
}
