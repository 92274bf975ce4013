"""What a recording says at its beginning and at its end: a replay needs nothing else, and knows what must come."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nodes.models import name_of
from state.context import ROLES
from state.errors import ReferenceMissing
from state.report import Report
from tools.artefacts import load
from tools.catalogue import built_in
from tools.tool import Tool, ToolEnv

if TYPE_CHECKING:
    from nodes.run import Run

_OF_THIS_PLACE = {
    *ROLES,
    "model",
    "base_url",
    "smtp",
    "sql",
    "home",
    "database",
    "record",
    "debug",
    "replay",
    "telemetry",
}
_OBJECTS = {"tools", "stop_when"}
_DESCRIBED = ("name", "description", "args_schema", "output_schema", "effect", "untrusted", "fallback", "uses_model")


def told_of(run: "Run") -> dict[str, Any]:
    """What a recording says at its beginning, so that a replay needs nothing else: settings, models, tools."""
    context = run.context
    named = None if context.tools is None else [one for one in context.tools if isinstance(one, str)]
    return {
        "context": context.model_dump(mode="json", exclude={*_OF_THIS_PLACE, *_OBJECTS}),
        "models": {
            role: [one if isinstance(one, str) else name_of(one) for one in context.models_of(role)] for role in ROLES
        },
        "tools": [_described(tool, own=named is not None and tool.name not in named) for tool in run.tools.values()],
        "kept": run.resumable,
    }


def kept_values(state: Mapping[str, Any], home: str) -> dict[str, Any]:
    """Large values that a state names by their handle only. Blocking."""
    results = state.get("results") or {}
    inputs = [value for value in state["request"]["inputs"].values() if isinstance(value, dict)]
    handles = [result["artefact"] for result in results.values()] + [value.get("artefact") for value in inputs]
    found: dict[str, Any] = {}
    for handle in filter(None, handles):
        with suppress(ReferenceMissing):
            found[handle] = load(handle, home)
    return found


def _described(tool: Tool, *, own: bool) -> dict[str, Any]:
    """A built-in tool by its name: a replay takes it as it is now."""
    if built_in(tool.name) and not own:
        return {"name": tool.name}
    return {name: getattr(tool, name) for name in _DESCRIBED}


def essence(report: Report) -> dict[str, Any]:
    """What must come out again when a run is replayed; times and costs are not in it."""
    return {
        "stop": report["stop"]["reason"], "answer": report["answer"], "answered_by": report["answered_by"],
        "plans": [
            {"reason": plan["reason"], "steps": [[step["id"], step["tool"], step["args"]] for step in plan["steps"]]}
            for plan in report["plans"]
        ],
        "results": {result["step"]: result["status"] for result in report["results"]},
        "missing": report["missing"], "writes": report["writes"],
    }  # fmt: skip


def stand_in(described: dict[str, Any]) -> Any:
    """A built-in tool by its name; any other one as it was described, and nothing behind it."""
    if set(described) == {"name"}:
        return described["name"]

    async def never(args: dict[str, Any], env: ToolEnv) -> Any:
        raise AssertionError(f"{described['name']} is only replayed")

    return Tool(run=never, **{name: described[name] for name in _DESCRIBED if name in described})
