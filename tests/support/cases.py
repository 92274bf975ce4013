"""The recorded cases of malformed replies, read by kind; the folder is named by FORETHOUGHT_CASES and never copied."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nodes.reading.actions import read_actions
from nodes.reading.arguments import clean_name, read_arguments
from nodes.reading.llm_compiler import read_llm_compiler
from nodes.reading.message import read_text
from nodes.reading.objects import object_in
from nodes.reading.partial import read_prefix
from nodes.reading.rewoo import read_rewoo
from nodes.reading.task_graph import read_task_graph
from nodes.reading.text_plan import TextPlan
from nodes.reading.turns import read_react, read_tagged
from nodes.reading.values import read_value
from nodes.reading.xml_plan import read_xml_plan

CASES = Path(os.environ.get("FORETHOUGHT_CASES") or "not named")
Seen = dict[str, Any]
"""What was read: the keys of a case's expectation that a reader can fill."""


def malformed() -> list[Seen]:
    """All cases, in order of name; none where the folder is absent."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((CASES / "malformed").glob("*.json"))]


def read(kind: str, text: str) -> Seen:
    """Reads a text as what its kind says it is; raises `ValueError` where it is refused."""
    return READERS[kind](text)


def _json(text: str) -> Seen:
    try:
        prefix = read_prefix(text)
    except ValueError:
        return {"value": object_in(text), "flags": []}
    return {"value": prefix.value, "flags": [] if prefix.whole else ["partial"]}


def _whole(text: str) -> Seen:
    try:
        return {"value": read_value(text)}
    except ValueError:
        return {"value": object_in(text)}


def _message(text: str) -> Seen:
    reading = read_text(text)
    if reading.problem:
        raise ValueError(reading.problem)
    calls = [{"name": call.name, "arguments": call.args} for call in reading.calls if call.args is not None]
    return {"tool_calls": calls, "content": reading.text or None, "reasoning": reading.reasoning}


def _react(text: str) -> Seen:
    turn = read_react(text)
    if turn.problem:
        raise ValueError(turn.problem)
    call = turn.call
    calls = [{"name": call.name, "arguments": call.raw if call.args is None else call.args}] if call else []
    return {"tool_calls": calls, "final": turn.final}


def _plan(reader: Callable[[str], TextPlan]) -> Callable[[str], Seen]:
    def run(text: str) -> Seen:
        plan = reader(text)
        defects = sorted({finding.code for finding in plan.findings})
        return {
            "defects": defects,
            "plan": [{"id": step.id, "tool": step.tool, "deps": list(step.deps)} for step in plan.steps],
        }

    return run


def _graph(text: str) -> Seen:
    return {"defects": sorted({finding.code for finding in read_task_graph(text).findings})}


def _tagged(text: str) -> Seen:
    found = read_tagged(text)
    return {"first_action": {"kind": found.kind, "body": found.body}}


READERS: Mapping[str, Callable[[str], Seen]] = {
    "json": _json,
    "json_partial": _json,
    "json_object": lambda text: {"value": object_in(text)},
    "json_in_prose": lambda text: {"value": object_in(text)},
    "json_arguments": lambda text: {"value": read_arguments(text)},
    "plan_json": _whole,
    "plan_args": lambda text: {"value": object_in(text)},
    "plan_rewoo": _plan(read_rewoo),
    "plan_llmcompiler": _plan(read_llm_compiler),
    "plan_xml": _plan(read_xml_plan),
    "plan_actions": lambda text: {"actions": read_actions(text)},
    "task_graph": _graph,
    "tagged_action": _tagged,
    "react": _react,
    "tool_call": _message,
    "text": _message,
    "tool_name": lambda text: {"name": clean_name(text)},
}


def fault(expect: Mapping[str, Any], seen: Seen | None) -> str:
    """Why what was read is not what a case asks for; empty where it is."""
    outcome = expect["outcome"]
    if seen is None or (seen.get("defects") and outcome != "validated"):
        return "" if "rejected" in outcome else "was refused"
    if outcome == "rejected":
        return f"was taken for {seen}"
    if outcome == "validated":
        missing = {*expect["defects"]} - {*seen["defects"]} - {"unknown_tool"}  # the tools are not part of the case
        return f"defects not reported: {sorted(missing)}" if missing else ""
    if "partial" in outcome:
        extra = [call for call in seen["tool_calls"] if call not in expect["tool_calls"]]
        return f"invented {extra}" if extra else ""
    return "; ".join(
        f"{key} is {seen.get(key)!r}, not {wanted!r}"
        for key, wanted in expect.items()
        if key not in ("outcome", "must_not", "reason", "note") and not _same(seen.get(key), wanted)
    )


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], dict) and "deps" in wanted[0]:
        wanted = [{**step, "id": str(step["id"]), "deps": [str(name) for name in step["deps"]]} for step in wanted]
    return json.dumps(got, sort_keys=True) == json.dumps(wanted, sort_keys=True)
