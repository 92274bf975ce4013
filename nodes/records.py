"""The record of a step: blank before it runs, and what of its output stays in state."""

import asyncio
from typing import Any

from nodes.run import Run
from state.clock import now
from state.plan import Step, digest, step_hash
from state.references import each_text
from state.result import Result, failure
from state.usage import no_calls
from tools.artefacts import as_json, keep, preview


def blank(step: Step) -> Result:
    """The record of a step that has not run."""
    moment = now()
    return {
        "step": step["id"], "hash": step_hash(step), "plan_version": step["version"], "tool": step["tool"],
        "args": step["args"], "call": "", "calls": [], "made": [], "effect": step["effect"], "status": "not_run",
        "output": None, "artefact": None, "digest": "", "failure": None, "checks": [], "parts": [], "attempts": 0,
        "started": moment, "ended": moment, "slow": False, "note": "", "requests": [], "fresh": {}, "usage": no_calls(),
    }  # fmt: skip


async def keep_output(record: Result, output: Any, run: Run) -> None:
    """Caps what stays in state; the whole of a large output becomes an artefact."""
    cap = run.context.output_cap
    record["digest"] = digest(output)
    if len(as_json(output)) <= cap:
        record["output"] = output
        return
    try:
        handle = await asyncio.to_thread(keep, output, run.context.home_folder())
    except OSError as error:
        _not_kept(record, output, error)
        return
    record["artefact"], record["output"] = handle, preview(output, cap, handle)
    for part in record["parts"]:
        part["output"] = shown(part["output"])


def _not_kept(record: Result, output: Any, error: OSError) -> None:
    """A large output has no place to go: a read failed then, but what a write did stays done."""
    why = f"its output of {len(as_json(output))} characters can't be kept: {error.strerror or error}"
    if record["effect"] == "read":
        record["status"], record["failure"] = "failed", failure("permanent", why)
    else:
        record["output"], record["note"] = output, "; ".join(filter(None, [record["note"], why]))


def shown(value: Any) -> Any:
    """A value with its long texts shortened, for the record."""
    return each_text(value, lambda text: text if len(text) <= 500 else f"{text[:500]}… ({len(text)} characters)")
