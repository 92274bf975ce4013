"""The steps of a run as rows, with what each gave, took and cost; and when each ran."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from graphs._drawing import state_of
from graphs._timeline import bars
from graphs._watch import Row, Watch
from graphs._words import as_json
from state.plan import Step
from state.result import Result, why
from state.usage import no_calls

_LONGEST = 20_000
"""Characters of an output that the page is told; the rest is in the artefact, or in the report."""


def steps_of(watch: Watch, over: bool, asked: Collection[str] = ()) -> list[dict[str, Any]]:
    """One row a step; once the run is `over`, nothing runs and nothing waits for its turn.

    `asked` are the ids of requests that are open still: the run goes on when all are answered.
    """
    steps = watch.steps()
    rows = [_row(row, steps[row.step], watch, over) for row in watch.rows()]
    return [{**row, **_answered(watch.results.get(row["id"]), asked)} for row in rows]


def _answered(result: Result | None, asked: Collection[str]) -> dict[str, Any]:
    """How a step stands whose own requests are answered while others are open."""
    if not asked or result is None or result["status"] != "waiting":
        return {}
    if not result["requests"] or any(request["id"] in asked for request in result["requests"]):
        return {}
    return {"state": "waits", "why": "", "answered": True}


def _row(row: Row, step: Step, watch: Watch, over: bool) -> dict[str, Any]:
    result = watch.results.get(row.step)
    running = row.state == "running"
    return {
        "id": row.step, "tool": row.tool, "state": state_of(result) if over else row.state,
        "seconds": None if running else row.seconds, "began": watch.running.get(row.step),
        "waits": [] if over else row.waits, "note": row.note if running else "",
        "write": step["effect"] == "write", "critical": step["critical"], "version": step["version"],
        "reason": step["why"], "planned": step["args"], "accept": step["accept"], "each": step["each"],
        "when": step["when"], "fallback": step["fallback"], **_outcome(None if running else result),
    }  # fmt: skip


def _outcome(result: Result | None) -> dict[str, Any]:
    """What became of a step; nothing yet without a result."""
    if result is None:
        return {"output": None, "usage": no_calls(), "checks": [], "parts": [], "attempts": 0}
    return {
        "output": _shown(result["output"]), "artefact": result["artefact"], "args": result["args"],
        "why": why(result), "failure": result["failure"], "checks": result["checks"], "usage": result["usage"],
        "parts": [_part(part) for part in result["parts"]], "attempts": result["attempts"], "slow": result["slow"],
    }  # fmt: skip


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    reason = part["failure"]
    return {"status": part["status"], "output": _shown(part["output"]), "why": reason["message"] if reason else ""}


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    said = value if isinstance(value, str) else as_json(value, indent=2)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


def bars_of(watch: Watch) -> dict[str, Any]:
    """The time line."""
    shown, waits = bars(list(watch.results.values()))
    return {"bars": [asdict(bar) for bar in shown], "waits": [asdict(wait) for wait in waits]}
