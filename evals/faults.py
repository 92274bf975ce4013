"""What goes wrong with one call of a gold plan, each fault as a model makes it; which, a seed says and never the hour.

Leaves out: how often, and what a model does after it was told (`evals/noise.py`).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evals.stubs import made_up
from evals.tasks import Task
from state.plan import StepDraft, canonical
from tools.tool import Schema, Tool

MALFORMED = "malformed"
MISSING = "missing step"
EXTRA = "extra step"
WEIGHTS: Mapping[str, float] = {
    "wrong argument": 0.34, MISSING: 0.18, "wrong tool": 0.15, "missing argument": 0.10, "invented tool": 0.08,
    EXTRA: 0.08, MALFORMED: 0.07,
}  # fmt: skip
"""How often each fault is the one that is made; together 1."""


class Fault(NamedTuple):
    """What stands in the place of a gold call: its kind ("" where it is right), and the calls."""

    kind: str
    steps: tuple[StepDraft, ...]


def chance(*what: Any) -> float:
    """A number from 0 to 1 that follows from what it is asked about, and from nothing else."""
    digits = hashlib.sha256(canonical(list(what)).encode("utf-8", "surrogatepass")).hexdigest()
    return float(int(digits, 16) / 16 ** len(digits))


def faulty(step: StepDraft, task: Task, p: float, seed: Sequence[Any]) -> Fault:
    """The call, or with probability `p` a fault in its place; where one can't be made of it, the next one that can."""
    draw = chance(*seed, step.id)
    if draw >= p:
        return Fault("", (step,))
    kinds = list(WEIGHTS)
    first = kinds.index(_kind(draw / p))
    for kind in [*kinds[first:], *kinds[:first]]:
        made = MAKERS[kind](step, task, [*seed, step.id, kind])
        if made is not None:
            return Fault(kind, tuple(made))
    raise AssertionError("a step can always be left out")


def _kind(share: float) -> str:
    left = share
    for kind, weight in WEIGHTS.items():
        left -= weight
        if left < 0:
            return kind
    return MALFORMED


def choose(options: Sequence[Any], seed: Sequence[Any]) -> Any:
    """One of them."""
    return options[int(chance(*seed) * len(options))]


# --- the faults


Made = Sequence[StepDraft] | None
Maker = Callable[[StepDraft, Task, Sequence[Any]], Made]


def _wrong_argument(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """One argument with another value of its kind."""
    if not step.args:
        return None
    name = choose(sorted(step.args), seed)
    return [_with_args(step, {**step.args, name: other(step.args[name], _part(step, name, task), task, seed)})]


def _missing_step(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    return []


def _wrong_tool(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """Another tool, with arguments that it takes."""
    others = [tool for tool in task.tools if tool.name != step.tool]
    if not others:
        return None
    tool = choose(others, seed)
    return [step.model_copy(update={"tool": tool.name, "args": _fitting(tool, step.args, seed)})]


def _missing_argument(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """Without an argument that it needs; where it needs none, without any of them."""
    schema = _tool(step, task).args_schema
    named = [name for name in sorted(step.args) if name in schema.get("required", [])] or sorted(step.args)
    if not named:
        return None
    left_out = choose(named, seed)
    return [_with_args(step, {name: value for name, value in step.args.items() if name != left_out})]


def _invented_tool(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """A tool that is not there, by a likely name."""
    known = {tool.name for tool in task.tools}
    names = [f"{verb}{step.tool}" for verb in ("auto_", "do_", "quick_", "smart_")]
    return [step.model_copy(update={"tool": choose([name for name in names if name not in known], seed)})]


def _extra_step(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """A call before it that nobody asked for; in a world that remembers, the right one waits for it."""
    tool = choose(task.tools, seed)
    extra = StepDraft(id=f"x_{step.id}", tool=tool.name, args=_fitting(tool, {}, seed), after=step.after)
    remembers = any(one.effect == "write" for one in task.tools)
    waits = [*step.after, extra.id] if remembers else step.after
    return [extra, step.model_copy(update={"after": waits})]


def _malformed(step: StepDraft, task: Task, seed: Sequence[Any]) -> Made:
    """The call itself is right; it is the reply that can't be read."""
    return [step]


MAKERS: Mapping[str, Maker] = {
    "wrong argument": _wrong_argument, MISSING: _missing_step, "wrong tool": _wrong_tool,
    "missing argument": _missing_argument, "invented tool": _invented_tool, EXTRA: _extra_step,
    MALFORMED: _malformed,
}  # fmt: skip


# --- arguments


def _with_args(step: StepDraft, args: dict[str, Any]) -> StepDraft:
    return step.model_copy(update={"args": args})


def _tool(step: StepDraft, task: Task) -> Tool:
    return next(tool for tool in task.tools if tool.name == step.tool)


def _part(step: StepDraft, name: str, task: Task) -> Schema:
    schema: Schema = _tool(step, task).args_schema.get("properties", {}).get(name, {})
    return schema


def _fitting(tool: Tool, given: Mapping[str, Any], seed: Sequence[Any]) -> dict[str, Any]:
    """What the tool needs: arguments of the same names as they are, the others made up."""
    schema = tool.args_schema
    parts = schema.get("properties", {})
    return {
        name: given[name] if name in given else made_up(name, {"seed": chance(*seed)}, parts.get(name, {}))
        for name in schema.get("required", [])
    }


def other(value: Any, schema: Schema, task: Task, seed: Sequence[Any]) -> Any:
    """Another value of the same kind: of the options, of the task's own texts, or made up."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + int(chance(*seed, "by") * 9) + 1
    if isinstance(value, dict) and value:
        name = choose(sorted(value), seed)
        return {**value, name: other(value[name], schema.get("properties", {}).get(name, {}), task, seed)}
    if isinstance(value, list) and value:
        return [*value[:-1], other(value[-1], schema.get("items", {}), task, seed)]
    options = [one for one in schema.get("enum", _texts_of(task)) if one != value]
    kind = schema.get("type", "string")
    if options and (kind == "string" or "enum" in schema):
        return choose(options, seed)
    return made_up("value", {"seed": chance(*seed)}, schema)


def _texts_of(task: Task) -> list[str]:
    """The plain texts that stand among the gold arguments: what is mixed up with one another."""
    return sorted({text for step in task.gold for text in _plain(step.args) if "${" not in text})


def _plain(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _plain(item)


# --- whole plans


def written(faults: Sequence[tuple[StepDraft, Fault]]) -> list[StepDraft]:
    """The calls of a plan with its faults; what waited for a step that is missing waits for what that waited for."""
    gone = {gold.id: gold.after for gold, fault in faults if fault.kind == MISSING}
    steps = [step for _, fault in faults for step in fault.steps]
    return [step.model_copy(update={"after": _waiting(step.after, gone)}) for step in steps]


def _waiting(after: Sequence[str], gone: Mapping[str, Sequence[str]]) -> list[str]:
    names: list[str] = []
    for name in after:
        names += _waiting(gone[name], gone) if name in gone else [name]
    return list(dict.fromkeys(names))
