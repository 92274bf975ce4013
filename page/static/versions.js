// Two versions of a plan side by side: what was kept, changed, added and dropped.

import { el, fill } from "./dom.js";
import { graphView } from "./graph.js";
import { t, word } from "./words.js";

const LOOK = { kept: "not run", changed: "fallback", added: "done", dropped: "failed" };

export function versionsPart() {
  const node = el("div", {});
  const graphs = [graphView(null, { down: true }), graphView(null, { down: true })];
  let versions;
  let chosen = null;
  new ResizeObserver(() => versions && graphs.forEach((one) => one.refit?.())).observe(node);

  function draw() {
    const { plans, pairs } = versions;
    if (!plans.length) return fill(node, el("p", { class: "soft" }, t("no_plan")));
    const keys = Object.keys(pairs);
    const key = keys.includes(chosen) ? chosen : keys.at(-1);
    if (!key) return fill(node, el("p", { class: "soft" }, t("one_version")), one(plans[0], graphs[0]));
    const [a, b] = key.split("-").map((n) => plans.find((plan) => String(plan.version) === n));
    return fill(
      node, keys.length > 1 && choice(keys, key),
      el("div", { class: "sides" }, one(a, graphs[0], pairs[key].change, "before"), one(b, graphs[1], pairs[key].change, "after")),
      table(pairs[key].rows, a, b),
    );
  }

  function choice(keys, key) {
    const select = el("select", { id: "pair", on: { change: (event) => { chosen = event.target.value; draw(); } } }, keys.map((one) => el("option", { value: one }, t("compare_n", { a: one.split("-")[0], b: one.split("-")[1] }))));
    select.value = key;
    return el("p", { class: "line" }, el("label", { for: "pair" }, t("compare")), select);
  }

  return {
    node,
    show(view, patch) {
      if (!patch.versions) return;
      versions = patch.versions;
      draw();
    },
    shown: () => graphs.forEach((one) => one.refit?.()),
  };
}

function one(plan, graph, change, side) {
  const steps = plan.graph.nodes.map(({ id }) => ({ id, ...(side ? marked(id, change, side) : { state: "planned" }) }));
  graph.refit = () => graph.draw(plan.graph, steps);
  requestAnimationFrame(graph.refit);
  return el("section", { class: "side" }, el("h3", {}, t("plan_n", { n: plan.version })), el("p", { class: "soft" }, `${word("by", plan.by)}: ${plan.reason || plan.goal}`), graph.node);
}

function marked(id, change, side) {
  const names = side === "before" ? ["dropped"] : ["added", "changed"];
  const found = names.find((name) => change[name]?.includes(id)) ?? (side === "before" && changedFrom(id, change) ? "changed" : "kept");
  return { state: LOOK[found], mark: word("changes", found) };
}

function changedFrom(id, change) {
  return change.changed?.some((name) => name === id || name.startsWith(`${id}_v`));
}

function table(rows, a, b) {
  const head = el("tr", {}, ["", t("plan_n", { n: a.version }), t("plan_n", { n: b.version })].map((name) => el("th", { scope: "col" }, name)));
  const line = ({ change, before, after }) => el("tr", { class: `change-${change}` }, el("th", { scope: "row" }, word("changes", change)), el("td", {}, el("pre", {}, before)), el("td", {}, el("pre", {}, after)));
  return el("div", { class: "scroll" }, el("table", { class: "difference" }, el("thead", {}, head), el("tbody", {}, rows.map(line))));
}
