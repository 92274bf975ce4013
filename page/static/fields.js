// Fields for values that a JSON Schema describes: those of a setting, of a call's arguments, of an answer.

import { el } from "./dom.js";
import { t } from "./words.js";

let count = 0;

// The schema behind references, and without "or nothing".
export function settled(schema, defs = {}) {
  let found = schema ?? {};
  for (let depth = 0; depth < 8; depth += 1) {
    if (found.$ref) found = { ...(defs[found.$ref.split("/").pop()] ?? {}), ...without(found, "$ref") };
    else if (found.anyOf?.some((one) => one.type === "null") && found.anyOf.length === 2) {
      found = { ...found.anyOf.find((one) => one.type !== "null"), ...without(found, "anyOf"), nullable: true };
    } else break;
  }
  return found;
}

function without(found, name) {
  const { [name]: _, ...rest } = found;
  return rest;
}

export function kindOf(schema) {
  const types = [schema.type].flat().filter((one) => one && one !== "null");
  if (schema.enum) return "choice";
  if (schema.properties) return "group";
  if (types.includes("boolean")) return "boolean";
  if (types.length === 1 && (types[0] === "integer" || types[0] === "number")) return "number";
  if (types.includes("string")) return "text";
  if (types[0] === "array" && ["string", undefined].includes(schema.items?.type) && !schema.items?.$ref) return "lines";
  return "json";
}

// One field: `node` to show, `read()` gives the value, undefined where nothing was said; it throws what is wrong.
export function field(name, schema, { help, given, long, required } = {}) {
  const id = `f${(count += 1)}`;
  const control = CONTROLS[kindOf(schema)](schema, id, given, long);
  const read = () => {
    const value = control.read();
    if (required && (value === undefined || value === "")) throw new Error(t("needed"));
    return value;
  };
  const wrong = el("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
  const told = help ? el("p", { class: "help", id: `${id}-help` }, help) : null;
  control.input.setAttribute("aria-describedby", [told && `${id}-help`, `${id}-wrong`].filter(Boolean).join(" "));
  control.input.dataset.name = name;
  if (required) control.input.required = true;
  return {
    name,
    node: el("div", { class: "field" }, el("label", { for: id }, name), control.input, told, wrong),
    read() {
      wrong.hidden = true;
      control.input.removeAttribute("aria-invalid");
      try {
        return read();
      } catch (error) {
        wrong.textContent = error.message;
        wrong.hidden = false;
        control.input.setAttribute("aria-invalid", "true");
        for (let around = control.input.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
        control.input.focus();
        throw error;
      }
    },
  };
}

const CONTROLS = {
  choice(schema, id, given) {
    const values = schema.enum.filter((one) => one !== null);
    return select(id, values.map((one) => [String(one), one]), given, schema.default);
  },
  boolean(schema, id, given) {
    return select(id, [[t("yes"), true], [t("no"), false]], given, schema.default);
  },
  number(schema, id, given) {
    const input = el("input", { id, type: "number", step: schema.type === "integer" ? "1" : "any", min: schema.minimum, max: schema.maximum, placeholder: shown(schema.default), value: given === undefined ? "" : String(given ?? "") });
    return {
      input,
      read() {
        if (input.validity.badInput || !input.checkValidity()) throw new Error(input.validationMessage || t("no_number"));
        return input.value === "" ? undefined : Number(input.value);
      },
    };
  },
  text(schema, id, given, long) {
    const said = given === undefined || given === null ? "" : typeof given === "string" ? given : JSON.stringify(given);
    const rows = Math.min(12, Math.max(long && given === undefined ? 3 : 1, said.split("\n").length));
    const input = long || said.length > 60 || said.includes("\n") ? el("textarea", { id, rows, value: said }) : el("input", { id, type: "text", value: said, autocomplete: "off", placeholder: shown(schema.default) });
    const read = () => {
      if (input.value === said) return given;
      return mayBeJson(schema) && /^\s*[[{]/.test(input.value) ? readJson(input.value) : input.value;
    };
    return { input, read };
  },
  lines(schema, id, given) {
    const input = el("textarea", { id, rows: 2, placeholder: t("one_a_line"), value: (given ?? []).join("\n") });
    return {
      input,
      read() {
        const said = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
        return said.length || given !== undefined ? said : undefined;
      },
    };
  },
  json(schema, id, given) {
    const input = el("textarea", { id, class: "code", rows: given === undefined ? 2 : Math.min(24, JSON.stringify(given, null, 2).split("\n").length), placeholder: "JSON", spellcheck: "false", value: given === undefined ? "" : JSON.stringify(given, null, 2) });
    return { input, read: () => readJson(input.value) };
  },
};
CONTROLS.group = CONTROLS.json;

// A setting that takes a text may also take a list or a mapping, which is written as JSON then.
function mayBeJson(schema) {
  return [schema.type].flat().some((one) => one === "array" || one === "object");
}

export function readJson(text) {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(t("no_json", { why: error.message }), { cause: error });
  }
}

function select(id, pairs, given, usual) {
  const first = given === undefined ? [el("option", { value: "" }, usual === undefined || usual === null ? t("as_it_is") : t("usually", { value: named(pairs, usual) }))] : [];
  const input = el("select", { id }, first, pairs.map(([word], place) => el("option", { value: String(place) }, word)));
  if (given !== undefined) input.value = String(Math.max(0, pairs.findIndex(([, value]) => value === given)));
  return { input, read: () => (input.value === "" ? undefined : pairs[Number(input.value)][1]) };
}

function named(pairs, value) {
  return pairs.find(([, one]) => one === value)?.[0] ?? String(value);
}

function shown(value) {
  return value === undefined || value === null || typeof value === "object" ? null : String(value);
}

// What was said in several fields; undefined where nothing was. Throws at the first that is wrong, which has the focus then.
export function readAll(fields) {
  const said = {};
  for (const one of fields) {
    const value = one.read();
    if (value !== undefined) said[one.name] = value;
  }
  return said;
}
