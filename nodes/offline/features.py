"""What a task looks like by rules: the offline plan says its steps, and whether they need each other."""

from collections.abc import Mapping
from typing import Any

from nodes.offline.requests import plan
from state.references import references


def features(fences: Mapping[str, Any]) -> dict[str, Any]:
    """The features of a task; one that is not understood takes no step here, and its plan will say so."""
    steps = plan(dict(fences)).get("steps") or []
    writes = {tool["name"] for tool in fences.get("tools") or [] if tool.get("effect") == "write"}
    return {
        "steps": len(steps),
        "dependent": any(_needs(step) for step in steps),
        "expandable": not any(step.get("when") for step in steps),
        "vague": False,
        "writes": any(step["tool"] in writes for step in steps),
    }


def _needs(step: Mapping[str, Any]) -> bool:
    return bool(step.get("after")) or bool(set(references([step.get("args"), step.get("each")])) - {"inputs", "item"})
