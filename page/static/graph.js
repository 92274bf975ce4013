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
    const layout = fitting(graph, node.parentElement.clientWidth, down); // so that it doesn't turn when a step is chosen
    const scale = Math.min(1, Math.max(SMALLEST, Math.floor((room / layout.width) * 100) / 100));
    const now = JSON.stringify([graph.nodes, layout]);
    if (now !== shape) build(layout);
    shape = now;
    inner.style.transform = scale === 1 ? "" : `scale(${scale})`;
    node.style.height = `${Math.ceil(layout.height * scale) + 14}px`;
    update(steps);
  }

  function build(layout) {
    const lines = svg("svg", { width: layout.width, height: layout.height, "aria-hidden": "true", class: "lines" }, arrow(), ...layout.lines.map(line));
    boxes = Object.fromEntries(graph.nodes.map((one) => [one.id, box(one, layout.boxes[one.id], graph.box, chosen)]));
    inner.style.width = `${layout.width}px`;
    inner.style.height = `${layout.height}px`;
    fill(inner, lines, ...Object.values(boxes).map((one) => one.node));
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

function arrow() {
  const head = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8Z", class: "arrowhead" }));
  return svg("defs", {}, head);
}

function line({ path, dashed }) {
  return svg("path", { d: path, class: dashed ? "edge dashed" : "edge", "marker-end": "url(#arrow)" });
}

function box({ id, lines, write }, [x, y], [width, height], chosen) {
  const state = el("span", { class: "state" });
  const facts = el("span", { class: "facts" });
  const node = el(
    "button", { class: "node", type: "button", "data-step": id, on: { click: () => chosen?.(id) } },
    el("span", { class: "top" }, el("b", {}, id), el("span", { class: "tool" }, lines[0] ?? ""), write && el("span", { class: "write" }, t("write"))),
    el("span", { class: "said" }, lines.slice(1).join(" · ")),
    el("span", { class: "foot" }, el("span", { class: "sign", "aria-hidden": "true" }), state, facts),
  );
  Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  return {
    node,
    show(step, picked) {
      node.className = `node s-${step.state.replaceAll(" ", "-")}${write ? " writes" : ""}${picked ? " picked" : ""}`;
      node.setAttribute("aria-pressed", String(Boolean(picked)));
      state.textContent = step.mark ?? word("states", step.state);
      facts.textContent = [took(step), cost(step.usage)].filter(Boolean).join(" · ");
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
