"""The record of a step: blank before it runs, and what of its output stays in state."""

import asyncio
import time
from typing import Any

from nodes.run import Run
from state.plan import Step, digest, step_hash
from state.references import each_text
from state.result import Result
from tools.artefacts import as_json, keep, preview


def blank(step: Step) -> Result:
    """The record of a step that has not run."""
    now = time.time()
    return {
        "step": step["id"], "hash": step_hash(step), "plan_version": step["version"], "tool": step["tool"],
        "args": step["args"], "call": "", "calls": [], "effect": step["effect"], "status": "not_run", "output": None,
        "artefact": None, "digest": "", "failure": None, "checks": [], "parts": [], "attempts": 0, "started": now,
        "ended": now, "slow": False, "note": "", "requests": [], "fresh": {},
    }  # fmt: skip


async def keep_output(record: Result, output: Any, run: Run) -> None:
    """Caps what stays in state; the whole of a large output becomes an artefact."""
    cap = run.context.output_cap
    record["digest"] = digest(output)
    if len(as_json(output)) <= cap:
        record["output"] = output
        return
    handle = await asyncio.to_thread(keep, output, run.context.home_folder())
    record["artefact"], record["output"] = handle, preview(output, cap, handle)
    for part in record["parts"]:
        part["output"] = shown(part["output"])


def shown(value: Any) -> Any:
    """A value with its long texts shortened, for the record."""
    return each_text(value, lambda text: text if len(text) <= 500 else f"{text[:500]}… ({len(text)} characters)")
