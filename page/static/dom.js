// Elements from names and texts. Text from a run is always a text node, never markup.

const SAFE_LINK = /^(#|data\/|\.\/)/;

export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(made, name, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function set(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
  else if (name === "href" && !SAFE_LINK.test(value)) throw new Error(`no link of this page: ${value}`);
  else if (name in SETTERS) SETTERS[name](made, value);
  else made.setAttribute(name, value === true ? "" : String(value));
}

const SETTERS = {
  class: (made, value) => { made.className = value; },
  value: (made, value) => { made.value = value; },
  checked: (made, value) => { made.checked = value; },
};

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat().filter(Boolean));
  return place;
}

export function chip(state, word, more = "") {
  return el("span", { class: `chip s-${state.replaceAll(" ", "-")} ${more}` }, el("span", { class: "sign", "aria-hidden": "true" }), word);
}

export function say(text) {
  document.getElementById("said").textContent = text;
}
