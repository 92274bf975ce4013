"""The check of tools that name another as their fallback: there, a read as well, and good for the same arguments."""

from collections.abc import Mapping
from typing import Any

from state.errors import InputError
from tools.tool import Schema, Tool


def check_fallbacks(tools: Mapping[str, Tool]) -> None:
    """Raises `InputError` for a fallback that could not stand in."""
    for tool in tools.values():
        if tool.fallback and (why := _fault(tool, tools)):
            raise InputError(f"tool {tool.name!r} names {tool.fallback!r} as its fallback, but {why}")


def _fault(tool: Tool, tools: Mapping[str, Tool]) -> str:
    if tool.fallback == tool.name:
        return "a tool can't stand in for itself"
    other = tools.get(tool.fallback)
    if other is None:
        return f"there is no such tool in use; there is: {', '.join(tools)}"
    if writes := [one.name for one in (tool, other) if one.effect == "write"]:
        return f"{writes[0]} changes something; only a read may stand in for a read"
    return _misfit(tool.args_schema, other)


def _misfit(given: Schema, other: Tool) -> str:
    """Why arguments that fit one schema may not fit the other's."""
    wanted = other.args_schema
    known, taken = given.get("properties", {}), wanted.get("properties", {})
    if wanted.get("additionalProperties") is False and (more := [name for name in known if name not in taken]):
        return f"{other.name} takes no argument {more[0]!r}; it takes: {', '.join(taken) or 'none'}"
    lacking = [name for name in wanted.get("required", []) if name not in given.get("required", [])]
    if lacking:
        return f"{other.name} needs the argument {lacking[0]!r}, which may be missing"
    for name in known:
        if name in taken and not _within(_kinds(known[name], given), _kinds(taken[name], wanted)):
            return f"{other.name} takes another type of argument {name!r}"
    return ""


def _kinds(schema: Any, root: Schema) -> set[str] | None:
    """The JSON types that a schema allows; None where it doesn't say."""
    if not isinstance(schema, dict):
        return None
    if "$ref" in schema:
        return _kinds(root.get("$defs", {}).get(str(schema["$ref"]).rpartition("/")[2]), root)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        found = [_kinds(choice, root) for choice in choices]
        return None if None in found else {kind for one in found for kind in one or ()}
    kinds = schema.get("type")
    return None if kinds is None else {kinds} if isinstance(kinds, str) else set(kinds)


def _within(given: set[str] | None, taken: set[str] | None) -> bool:
    if given is None or taken is None:
        return True
    return given <= taken | ({"integer"} if "number" in taken else set())
