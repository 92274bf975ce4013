// When each step ran: a bar for each, with long waits cut out and named.

import { chip, el, fill } from "./dom.js";
import { seconds, t, word } from "./words.js";

export function timePart() {
  const node = el("div", { class: "time" });
  function draw({ bars, waits }) {
    if (!bars.length) return fill(node, el("p", { class: "soft" }, t("no_step_ran")));
    return fill(node, bars.map(bar), waits.map((one) => el("p", { class: "soft" }, t("cut_out", { time: seconds(one.seconds) }))));
  }
  return { node, show: (view, patch) => patch.bars && draw(patch.bars) };
}

function bar(one) {
  const drawn = el("span", { class: `stretch s-${one.state.replaceAll(" ", "-")}` });
  drawn.style.left = `${one.at * 100}%`;
  drawn.style.width = `max(3px, ${(one.to - one.at) * 100}%)`;
  return el(
    "div", { class: "timerow" },
    el("span", { class: "label" }, el("b", {}, one.step), " ", one.tool),
    el("span", { class: "track", "aria-hidden": "true" }, drawn),
    el("span", { class: "line" }, chip(one.state, word("states", one.state)), el("span", { class: "soft" }, [t("after", { time: seconds(one.begins) }), seconds(one.seconds), one.slow && t("slow")].filter(Boolean).join(" · "))),
  );
}
