"""Reads one turn of a model that acts by text: ReAct's labels (2210.03629), or one tag a turn.

Only the first action counts. What stands after it (an observation, an answer) the model has made up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodes.reading.arguments import call_from, call_of
from nodes.reading.objects import data_at, next_outside
from nodes.reading.record import Call
from nodes.reading.thinking import set_aside
from nodes.reading.values import unfenced

_LABEL = re.compile(
    r"^[ \t>*_#]*(?P<label>Action Input|Action|Final Answer|Observation|Thought|Question)"
    r"(?:[ \t]*\d+)?[*_]*[ \t]*[:：][*_]*",
    re.MULTILINE | re.IGNORECASE,
)
_BRACKETS = re.compile(r"([^\W\d][\w.-]*)\s*(?:\[(.*)\]|\((.*)\))", re.DOTALL)


@dataclass(frozen=True)
class Turn:
    """A call or a final answer; else the problem in a sentence."""

    call: Call | None = None
    final: str | None = None
    problem: str = ""


@dataclass(frozen=True)
class Tagged:
    """The first action of a turn: the tag's name, and what stands in it."""

    kind: str
    body: str


def read_react(text: str) -> Turn:
    """The first action or the final answer of a turn."""
    observed = False
    visible = set_aside(text).visible
    parts = _parts(visible)
    for place, (label, said) in enumerate(parts):
        observed = observed or label == "observation"
        if label == "action":
            follows = parts[place + 1] if place + 1 < len(parts) else ("", "")
            return _turn(_call(said.strip(), follows[1] if follows[0] == "action input" else None))
        if label == "final answer":
            return _final(said.strip(), observed)
    return Turn(problem="the turn holds neither an action nor a final answer")


def read_tagged(text: str, names: Sequence[str] = ("execute", "solution")) -> Tagged:
    """The first tagged action; raises `ValueError` where there is none, it is not closed, or another stands in it."""
    wanted = " or ".join(f"<{name}>" for name in names)
    tags = re.finditer(rf"<(/?)({'|'.join(map(re.escape, names))})>", text, re.IGNORECASE)
    begin, end = next(tags, None), next(tags, None)
    if begin is None:
        raise ValueError(f"there is no {wanted} in the turn")
    if begin[1]:
        raise ValueError(f"{begin[0]} closes what was never opened")
    if end is None or not end[1] or end[2].lower() != begin[2].lower():
        raise ValueError(f"{begin[0]} is not closed")
    return Tagged(begin[2].lower(), text[begin.end() : end.start()].strip())


def _parts(text: str) -> list[tuple[str, str]]:
    """Each label with what follows it; a label inside JSON is data."""
    labels, place = [], 0
    while label := next_outside(_LABEL, text, place):
        labels.append(label)
        place = label.end()
    ends = [*(label.start() for label in labels[1:]), len(text)]
    return [(label["label"].lower(), text[label.end() : end]) for label, end in zip(labels, ends, strict=False)]


def _final(said: str, observed: bool) -> Turn:
    if observed:
        return Turn(problem="the final answer rests on an observation that the model wrote itself")
    return Turn(final=said) if said else Turn(problem="the final answer is empty")


def _turn(call: Call) -> Turn:
    return Turn(call=call, problem=call.problem)


def _call(action: str, given: str | None) -> Call:
    """An action with its input: on a line of its own, in brackets, or both together as JSON."""
    name, _, same_line = action.partition("Action Input:")
    name, given = name.strip("*_` "), given if given is not None else same_line.strip() or None
    if given is None:
        plain = unfenced(action)
        if plain.startswith("{") and (found := data_at(plain, 0)):
            return call_from(found[0]) or Call("", None, "the action names no tool")
        if not (written := _BRACKETS.fullmatch(name)):
            return Call(name, None, f"the action {name[:60]!r} has no input")
        name, given = written[1], written[2] or written[3] or ""
    return _with_input(name.splitlines()[0] if name else "", unfenced(given))


def _with_input(name: str, given: str) -> Call:
    """JSON as arguments; a plain text, as ReAct has it, is kept in `raw` for tools that take one text."""
    if given[:1] in ("{", "["):
        found = data_at(given, 0)
        goes_on = found and given[found[1] : found[1] + 1] in ("}", "]", ",")
        return call_of(name, given[: found[1]] if found and not goes_on else given)
    call = call_of(name, {} if given else None)
    return replace(call, args=None, raw=given.strip("\"'")) if given and not call.problem else call
