"""What a request's constraints demand of a call: frozen at the start, held against every plan and every call.

`words` are sentences for the models. Keys that code enforces: `forbid` and `approve` (tools), `read_only`,
`deadline` (no write after that time), `max_NAME` and `min_NAME` (a bound on every argument NAME), and any other key
with a plain value, such as `tenant`: every argument of that name, at whatever depth, must have that value, also where
it is left out and the tool has a value of its own for it.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from state.clock import now
from state.errors import InputError, shorten
from state.references import references
from tools.named import named
from tools.tool import Tool

OWN = ("words", "forbid", "approve", "read_only", "deadline")


def bounds_and_deadline(constraints: dict[str, Any]) -> dict[str, Any]:
    """The constraints as given; raises `InputError` for what could never be enforced."""
    if "deadline" in constraints and _moment(constraints["deadline"]) is None:
        raise InputError(
            f"constraint deadline is {shorten(constraints['deadline'])}; right would be 2030-12-31T18:00:00Z"
        )
    for name, value in constraints.items():
        if name[:4] in ("max_", "min_") and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f"constraint {name} is {shorten(value)}; right would be a number")
        if name not in OWN and not isinstance(value, str | int | float | bool):
            raise InputError(
                f"constraint {name} is {shorten(value)}, which no code can hold; right would be one plain value"
            )
    return constraints


def violated(tool: Tool, args: Mapping[str, Any], constraints: Mapping[str, Any], *, planned: bool = False) -> str:
    """Why a call breaks a constraint, or an empty text; in a plan what is still a reference is left to the call."""
    return next(_violations(tool, args, constraints, planned), "")


def _violations(tool: Tool, args: Mapping[str, Any], constraints: Mapping[str, Any], planned: bool) -> Iterator[str]:
    for name, wanted in constraints.items():
        if name in OWN:
            continue
        argument = name[4:] if name[:4] in ("max_", "min_") else name
        for given, how in named(argument, args, tool.args_schema):
            if not (planned and references(given)) and not _holds(name, given, wanted):
                yield f"argument {argument} is {how}, but the constraint is {name} = {shorten(wanted)}"
    if tool.effect == "write" and (limit := _moment(constraints.get("deadline"))) and now() > limit.timestamp():
        yield f"tool {tool.name!r} changes something and the deadline {constraints['deadline']} has passed"


def _holds(name: str, given: Any, wanted: Any) -> bool:
    if isinstance(given, list):
        return bool(given) and all(_holds(name, one, wanted) for one in given)
    if name[:4] not in ("max_", "min_"):
        return isinstance(given, bool) == isinstance(wanted, bool) and bool(given == wanted)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return bool(given <= wanted if name.startswith("max_") else given >= wanted)


def must_be_approved(tool: Tool, constraints: Mapping[str, Any]) -> bool:
    """Whether the constraints name the tool as one that a person approves, whatever the settings say."""
    named = constraints.get("approve", [])
    return tool.name in ([named] if isinstance(named, str) else named)


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
