// Which part of the page is shown: #/ the runs, #/new a form, #/run/ID[/TAB] one run.

import { el, fill } from "./dom.js";
import { language, loadWords, setLanguage, store, t } from "./words.js";
import { showRuns } from "./runs.js";
import { showStart } from "./start.js";
import { showRun } from "./run.js";

const main = document.getElementById("main");
let leave = () => {};
let here = [];

function route() {
  const [, part = "", id = "", tab = ""] = location.hash.split("/").map(decoded);
  if (part === "run" && here[0] === "run" && here[1] === id) {
    here = [part, id, tab];
    return leave.tab(tab);
  }
  here = [part, id, tab];
  leave();
  document.title = "forethought";
  drawBar(part);
  window.scrollTo(0, 0);
  leave = part === "run" ? showRun(main, id, tab) : part === "new" ? showStart(main, id || undefined) : showRuns(main);
}

// What a person typed may be no code of a text; then it is the text.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function drawBar(part) {
  document.getElementById("skip").textContent = t("skip");
  const link = (href, name, current) => el("a", { href, class: "nav", "aria-current": current ? "page" : null }, t(name));
  fill(
    document.getElementById("bar"),
    el("a", { href: "#/", class: "brand" }, el("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), "forethought"),
    el("nav", { "aria-label": t("navigation") }, link("#/", "runs", part === "" || part === "run"), link("#/new", "new_run", part === "new")),
    el("span", { class: "spring" }),
    el("button", { class: "quiet", id: "language", lang: language === "zh" ? "en" : "zh-CN", on: { click: otherLanguage } }, language === "zh" ? "English" : "中文"),
    el("button", { class: "quiet", id: "theme", on: { click: otherTheme } }, el("span", { "aria-hidden": "true" }, "◐"), " ", el("span", { class: "name" }, themeName())),
  );
}

function themeName() {
  return t(`theme_${document.documentElement.dataset.theme ?? "auto"}`);
}

function otherTheme() {
  const next = { auto: "light", light: "dark", dark: "auto" }[document.documentElement.dataset.theme ?? "auto"];
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  store("forethought-theme", next);
  document.querySelector("#theme .name").textContent = themeName();
}

async function otherLanguage() {
  await setLanguage(language === "zh" ? "en" : "zh");
  here = [];
  route();
  document.getElementById("language").focus();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

try {
  await loadWords();
  window.addEventListener("hashchange", route);
  route();
} catch (error) {
  fill(main, el("p", { class: "wrong" }, String(error)));
}
