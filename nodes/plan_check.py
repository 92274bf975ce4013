"""The check of a plan before anything runs: every finding says which step, what is wrong, and what would be right."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError
from itertools import chain, islice
from typing import Any

from typing_extensions import TypedDict

from nodes.condition_check import condition_problems
from nodes.inputs import input_schema
from nodes.reference_check import item_schema, reference_problems
from nodes.typed_args import Schema, at_path, problems
from state.context import Context
from state.plan import RESERVED, Step, calls_of, needs, ordered
from state.references import PATTERN, references, whole
from state.result import FINISHED, Result
from tools.catalogue import Catalogue, built_in
from tools.constraints import violated
from tools.policy import forbidden

MOST = 40
"""Findings that are told at once; a planner that has mended those is told of the next."""


class Finding(TypedDict):
    """One fault of a plan; `step` is empty where it concerns the plan as a whole."""

    step: str
    code: str
    message: str


def check_plan(
    steps: list[Step],
    tools: Catalogue,
    *,
    done: Mapping[str, Result] | None = None,
    inputs: Mapping[str, Any] | None = None,
    context: Context | None = None,
    constraints: Mapping[str, Any] | None = None,
    only_last: bool = False,
) -> list[Finding]:
    """Findings about new steps, which may refer to finished ones in `done` and to the caller's `inputs`.

    With `only_last` those before the last have been looked at already: a plan that is still being written.
    """
    done = done or {}
    if not steps:
        return [
            finding("", "empty_plan", "the plan has no steps; it needs at least one, or a reason why it is impossible")
        ]
    known = _outputs(steps, tools, done, inputs or {})
    each = (
        chain(
            _tool(step, tools, known, context, constraints or {}),
            _fallback(step),
            (finding(step["id"], "unresolved_reference", why) for why in reference_problems(step, known)),
            (finding(step["id"], "bad_condition", why) for why in condition_problems(step, known)),
            _map(step, known),
            _rests_on(step, steps, done),
        )
        for step in (steps[-1:] if only_last else steps)
    )
    order = () if only_last else _order(steps, known)
    ids = _ids(steps[-1:], {step["id"] for step in steps[:-1]}, done) if only_last else _ids(steps, set(), done)
    return list(islice(chain(ids, order, chain.from_iterable(each)), MOST))


_NAMED = 100
"""How many tools are named where none is close."""


def finding(step: str, code: str, message: str) -> Finding:
    """One thing that is wrong; without a step it is about the whole plan."""
    return {"step": step, "code": code, "message": f"step {step!r}: {message}" if step else message}


def _outputs(
    steps: list[Step], tools: Catalogue, done: Mapping[str, Result], inputs: Mapping[str, Any]
) -> dict[str, Schema | None]:
    """What is known of the output of every step that may be referred to."""
    given = {name: input_schema(value) for name, value in inputs.items()}
    known: dict[str, Schema | None] = {"inputs": {"type": "object", "properties": given}}
    finished = {name: result for name, result in done.items() if result["status"] in FINISHED}
    called = {record["tool"] for record in (*finished.values(), *steps)}
    declared = {name: tools[name].output_schema for name in called if name in tools}
    known |= {name: None if one["parts"] else declared.get(one["tool"]) for name, one in finished.items()}
    for step in steps:
        schema = declared.get(step["tool"])
        if step["on_failure"] == "fallback":
            schema = None  # the fallback's output may be of another type
        known[step["id"]] = _listed(schema) if step["each"] else schema
    return known


def _listed(schema: Schema | None) -> Schema:
    return {"type": "array", **({"items": schema, "$defs": schema.get("$defs", {})} if schema else {})}


def _ids(steps: list[Step], seen: set[str], done: Mapping[str, Result]) -> Iterator[Finding]:
    for step in steps:
        name = step["id"]
        if not PATTERN.fullmatch(f"${{steps.{name}}}"):
            yield finding(name, "bad_id", "an id is letters, digits, _ and -, and starts with a letter")
        if name in RESERVED:
            yield finding(name, "reserved_id", f"{name!r} is reserved; choose another id")
        if name in seen:
            yield finding(name, "duplicate_id", "two steps have this id; every id stands once")
        if name in done and done[name]["status"] in FINISHED:
            yield finding(name, "taken_id", "a finished step has this id; a new step needs a fresh one")
        seen.add(name)


def _order(steps: list[Step], known: Mapping[str, Any]) -> Iterator[Finding]:
    for step in steps:
        if step["id"] in needs(step):
            yield finding(step["id"], "self_reference", "the step waits for its own result")
    others = [step for step in steps if step["id"] not in needs(step)]
    try:
        ordered(others)
    except CycleError as error:
        yield finding(
            "", "cycle", f"steps wait for each other in a circle: {' -> '.join(map(str, error.args[1][:20]))}"
        )


def _tool(
    step: Step,
    tools: Catalogue,
    known: dict[str, Schema | None],
    context: Context | None,
    constraints: Mapping[str, Any],
) -> Iterator[Finding]:
    for name, args in calls_of(step):
        if name not in tools:
            why = tools.away.get(name) or _absent(name, tools)
            yield finding(step["id"], "unknown_tool", why)
            continue
        visible = known | {"item": item_schema(step, known)} if step["each"] else known
        for problem in problems(args, tools[name].args_schema, visible):
            code = "missing_argument" if problem.startswith("missing") else "bad_arguments"
            yield finding(step["id"], code, f"{name}: {problem}")
        if context and (why := forbidden(tools[name], context, dict(constraints))):
            yield finding(step["id"], "forbidden_tool", why)
        if why := violated(tools[name], args, constraints, planned=True):
            yield finding(step["id"], "constraint", f"{name}: {why}")


def _fallback(step: Step) -> Iterator[Finding]:
    fallback = step["fallback"] or {}
    if step["on_failure"] == "fallback" and not {"tool", "value"} & fallback.keys():
        yield finding(step["id"], "no_fallback", "on_failure is fallback, but no fallback tool or value is given")


def _absent(name: str, tools: Iterable[str]) -> str:
    """Why there is no such tool; one that comes with this project only has to be named."""
    if not built_in(name):
        return f"there is no tool {name!r}; {_offer(name, tools)}"
    named = f"it is built in and in use only where the setting tools names it, as in tools=standard,{name}"
    return f"the tool {name!r} is not in use here: {named}; {_offer(name, tools)}"


def _offer(name: str, tools: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(tools), n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    names = sorted(tools)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"there are: {', '.join(names[:_NAMED])}{more}"


def _rests_on(step: Step, steps: list[Step], done: Mapping[str, Result]) -> Iterator[Finding]:
    if not step["rests_on"]:
        return
    effects = {name: result["effect"] for name, result in done.items()} | {one["id"]: one["effect"] for one in steps}
    for name in step["rests_on"]:
        if effects.get(name) == "write":
            yield finding(
                step["id"], "bad_evidence", f"`rests_on` names {name!r}, which changes something; name look-ups"
            )


def _map(step: Step, known: Mapping[str, Schema | None]) -> Iterator[Finding]:
    if not step["each"]:
        return
    match = whole(step["each"])
    if match is None:
        yield finding(
            step["id"],
            "bad_each",
            f"`each` must be one reference to a list, such as ${{steps.s1}}; it is {step['each']!r}",
        )
        return
    schema = at_path(known.get(match[1]), match[2])
    if schema and schema.get("type") not in (None, "array"):
        yield finding(step["id"], "bad_each", f"`each` needs a list, {step['each']} is of type {schema['type']}")
    if "item" not in references(step["args"]):
        yield finding(step["id"], "bad_each", "the step runs for each item but no argument uses ${steps.item}")
