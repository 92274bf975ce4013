"""What may run: allow and deny lists, read-only runs, constraints. Decided here, enforced where a call is made."""

from typing import Any

from state.context import Context
from tools.tool import Tool


def forbidden(tool: Tool, context: Context, constraints: dict[str, Any]) -> str:
    """Why a tool may not run under these settings and constraints, or an empty text."""
    if tool.of_pattern:
        return ""
    if context.allow is not None and tool.name not in context.allow:
        return f"tool {tool.name!r} is not on the allow list {context.allow}"
    if tool.name in context.deny:
        return f"tool {tool.name!r} is on the deny list"
    if tool.name in _listed(constraints.get("forbid")):
        return f"tool {tool.name!r} is forbidden by the constraint forbid={constraints['forbid']}"
    if tool.effect == "write" and constraints.get("read_only") is True:
        return f"tool {tool.name!r} changes something and this run is read-only, by the constraint read_only"
    if tool.effect == "write" and context.writes == "deny":
        return f"tool {tool.name!r} changes something and this run is read-only, by the setting writes='deny'"
    return ""


def needs_approval(tool: Tool, context: Context) -> bool:
    """Whether a person must agree before the call."""
    return tool.effect == "write" and context.writes == "ask"


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])
