"""The plan of a run as a saved plan: what came from its inputs becomes a parameter, and no secret is written down.

Leaves out: the form of the file (`nodes/plan_file.py`).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nodes.plan_request import as_draft
from nodes.recording import redacted
from nodes.solving import SOLVE_STEP
from state.errors import InputError
from state.masking import is_secret_name
from state.plan import Plan
from state.references import PATTERN, each_text
from state.request import Request

HIDDEN = "***"
_NAME = re.compile(r"[\w-]+")
_BEFORE, _BEHIND = r"(?<![0-9A-Za-z_.])", r"(?![0-9A-Za-z_.])"
_WITH_ARGS = ("args", "each", "fallback")
"""The parts of a step in which references mean something."""


def plan_of_run(plan: Plan, request: Request) -> dict[str, Any]:
    """The saved plan; a secret input is a parameter without a default, any other has its value as default."""
    if any(step["tool"] == SOLVE_STEP for step in plan["steps"]):
        raise InputError("the steps of plan_and_solve are solved in words by that pattern; they can't be saved")
    if not plan["steps"]:
        raise InputError(f"there are no steps in this run of {request['pattern']}; only a plan with steps can be saved")
    own = _own(request) if plan["by"] == "workflow" else {}
    inputs = {name: value for name, value in request["inputs"].items() if _NAME.fullmatch(name)}
    secret = {name: value for name, value in inputs.items() if is_secret(name, value)}
    inputs = secret if own else inputs  # the others have their places in it already
    found = _Parameters(inputs, secret, own.get("properties", {}))
    steps = [_step(as_draft(step), found) for step in plan["steps"]]
    goal = found.hide(plan["goal"] or request["task"])
    used = json.dumps(steps)
    parts = {name: found.part(name) for name in [*inputs, *found.new] if f"steps.inputs.{name}" in used}
    if not parts and not own:
        return {"goal": goal, "steps": steps}
    properties = {**parts, **own.get("properties", {})}
    required = [*own.get("required", []), *(name for name in parts if "default" not in properties[name])]
    more = {"required": list(dict.fromkeys(required))} if required else {}
    return {"goal": goal, "parameters": {"type": "object", **own, "properties": properties, **more}, "steps": steps}


def _own(request: Request) -> dict[str, Any]:
    """The parameters of the saved plan that ran, as its author wrote them, but for secrets."""
    own = (request.get("workflow") or {"parameters": {}})["parameters"]
    parts = {
        name: {key: value for key, value in part.items() if key != "default" or not is_secret(name, value)}
        if isinstance(part, Mapping)
        else part
        for name, part in own.get("properties", {}).items()
    }
    return {**own, "properties": parts} if parts else {}


def is_secret(name: str, value: Any) -> bool:
    """Whether a value must not stand in a file: by its name, by its look, or since the environment holds it."""
    if is_secret_name(name) or redacted(value) != value:
        return True
    if isinstance(value, Mapping):
        return any(is_secret(key, part) for key, part in value.items())
    return isinstance(value, list) and any(is_secret("", part) for part in value)


def _step(draft: dict[str, Any], found: "_Parameters") -> dict[str, Any]:
    """A step with references to parameters where a call is made, and nothing secret in its words."""
    return {
        name: found.put(part, name) if name in _WITH_ARGS else each_text(part, found.hide)
        for name, part in draft.items()
    }


class _Parameters:
    """The parameters of a plan, found in the literals of its steps."""

    def __init__(self, inputs: Mapping[str, Any], secret: Mapping[str, Any], known: Iterable[str] = ()) -> None:
        self.inputs, self.secret, self.new = inputs, secret, dict[str, Any]()
        self._taken = {*inputs, *known}
        literals = [one for name, value in inputs.items() for one in _literals(name, value)]
        self._literals = sorted(literals, key=lambda one: -len(str(one[1])))
        self._hidden = sorted(set(_texts(secret)), key=len, reverse=True)

    def put(self, value: Any, name: str) -> Any:
        """A value with references in the place of what came from inputs, and of secrets."""
        if isinstance(value, Mapping):
            return {key: self.put(part, key) for key, part in value.items()}
        if isinstance(value, list):
            return [self.put(part, name) for part in value]
        for path, literal in self._literals:
            if type(value) is type(literal) and value == literal:
                return f"${{steps.inputs.{path}}}"
        if not isinstance(value, str) or PATTERN.fullmatch(value):
            return value
        told = _outside(value, self._embed)
        if whole := PATTERN.fullmatch(told):  # a number as a text: the reference would make it a number
            return f"${{steps.inputs.{self._another(name)}}}" if whole[2][1:].split(".")[0] in self.secret else value
        if (is_secret_name(name) and told == value) or redacted(told) != told:
            return f"${{steps.inputs.{self._another(name)}}}"
        return told

    def hide(self, text: str) -> str:
        """A text for people without secrets."""
        for secret in self._hidden:
            text = text.replace(secret, HIDDEN)
        return str(redacted(text))

    def part(self, name: str) -> dict[str, Any]:
        """The schema of a parameter; its default is what the run had."""
        if name in self.new or name in self.secret:
            return {"description": "secret, so it has no default here"}
        value = self.inputs[name]
        if isinstance(value, dict) and value.keys() == {"path", "bytes"}:
            return {"type": "object", "default": {"file": value["path"]}}
        if isinstance(value, dict) and value.keys() == {"artefact", "characters"}:
            return {"default": {"artefact": value["artefact"]}}
        kind = _KINDS.get(type(value))
        hides = any(secret in json.dumps(value, ensure_ascii=False) for secret in self._hidden)
        return ({"type": kind} if kind else {}) | ({} if hides else {"default": value})

    def _embed(self, text: str) -> str:
        for path, literal in self._literals:
            if isinstance(literal, str | int | float) and len(said := _said(literal)) > 1:
                rule = re.escape(said) if path in self.secret else f"{_BEFORE}{re.escape(said)}{_BEHIND}"
                reference = f"${{steps.inputs.{path}}}"
                text = _outside(text, lambda part, rule=rule, put=reference: re.sub(rule, lambda _: put, part))  # type: ignore[misc]
        return text

    def _another(self, name: str) -> str:
        """The name of a new parameter for a secret that no input holds."""
        wanted, taken = _NAME.findall(name)[0] if _NAME.findall(name) else "secret", {*self._taken, *self.new}
        free = next(one for n in range(len(taken) + 1) if (one := f"{wanted}{n + 1 if n else ''}") not in taken)
        self.new[free] = None
        return free


_KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def _literals(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What of an input may stand in a plan, and how a plan refers to it; yes, no and nothing come from anywhere."""
    if isinstance(value, dict) and value.keys() == {"path", "bytes"}:
        yield f"{name}.path", value["path"]
    elif value not in (None, "", [], {}) and not isinstance(value, bool):
        yield name, value


def _said(literal: Any) -> str:
    return literal if isinstance(literal, str) else json.dumps(literal)


def _texts(value: Any) -> Iterator[str]:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for part in parts:
        if isinstance(part, str) and part.strip():
            yield part
        yield from _texts(part)


def _outside(text: str, visit: Callable[[str], str]) -> str:
    """A text with everything but its references changed; whole ones are left as they are."""
    parts, end = [], 0
    for match in PATTERN.finditer(text):
        parts += [visit(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, visit(text[end:])])
