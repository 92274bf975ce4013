// English and Chinese. What a run itself says (its plan, its reasons, its answer) stays as it is.

let words = {};
let english = {};
export let language = "en";

export async function loadWords() {
  language = stored("forethought-language") ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
  [english, words] = await Promise.all([read("en"), read(language)]);
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

async function read(name) {
  const answer = await fetch(`words/${name}.json`);
  if (!answer.ok) throw new Error(`words/${name}.json: ${answer.status}`);
  return answer.json();
}

export async function setLanguage(name) {
  store("forethought-language", name);
  await loadWords();
}

// t("runs"), t("waits_for", {steps: "s1"}); a name without words is shown as it is.
export function t(name, values = {}) {
  const said = words.page[name] ?? english.page[name] ?? name;
  return said.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
}

// word("states", "done"): the word of a list, else the name itself, readable.
export function word(list, name) {
  return own(words[list], name) ?? own(english[list], name) ?? String(name).replaceAll("_", " ");
}

// help("settings", "model"): only where the language has one of its own.
export function help(list, name) {
  return own(words[list], name);
}

function own(list, name) {
  return list && Object.hasOwn(list, name) ? list[name] : undefined;
}

export function stored(name) {
  try { return localStorage.getItem(name) ?? undefined; } catch { return undefined; }
}

export function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* then it holds for this page only */ }
}

export function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value >= 120) return t("minutes", { n: (value / 60).toFixed(1) });
  return value >= 0.95 ? t("seconds", { n: value.toFixed(1) }) : t("milliseconds", { n: Math.round(value * 1000) });
}

export function number(value) {
  return value === null || value === undefined ? t("unknown") : value.toLocaleString(language, { maximumSignificantDigits: 6 });
}

export function when(time) {
  return time ? new Date(time).toLocaleString(language === "zh" ? "zh-CN" : "en-GB", { dateStyle: "medium", timeStyle: "short" }) : "";
}
