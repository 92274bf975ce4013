"""The command `save`: the plan of a kept run that came to its goal, as a file that the pattern workflow runs."""

import asyncio
from pathlib import Path
from typing import Any

from graphs._leg import Job, kept_graph
from graphs._options import settings_of
from graphs._saved import home_of, valid_thread
from graphs._words import count
from nodes.plan_file import ENDINGS, plan_text, read_text
from nodes.saving import plan_of_run
from state.errors import InputError, shorten
from tools.catalogue import on_request


def save_plan(thread: str, file: str, more: list[str]) -> None:
    """Writes the last plan of a run; says which inputs it takes."""
    path = Path(file).expanduser()
    if path.suffix not in ENDINGS:
        raise InputError(f"-o {shorten(file)!r}: a plan is kept in a file that ends in {', '.join(ENDINGS)}")
    overrides = settings_of(more=more)
    plan = asyncio.run(_plan(Job("", valid_thread(thread), {}, home_of(overrides)), overrides))
    text = plan_text(plan, file)
    read_text(text, file)  # what is written can be read
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise InputError(f"-o {shorten(file)!r} can't be written: {error.strerror or error}") from error
    parts = plan.get("parameters", {}).get("properties", {})
    takes = ", ".join(name if "default" in part else f"{name} (to be given)" for name, part in parts.items())
    print(f"{file}: {count(len(plan['steps']), 'step')}; inputs: {takes or 'none'}")
    fallbacks = [(step.get("fallback") or {}).get("tool", "") for step in plan["steps"]]
    calls = [step["tool"] for step in plan["steps"]] + fallbacks
    if named := ",".join(dict.fromkeys(filter(on_request, calls))):
        print(f"it runs with these tools named: --set tools=standard,{named}")


async def _plan(job: Job, overrides: dict[str, Any]) -> dict[str, Any]:
    async with kept_graph(job, overrides) as graph:
        snapshot = await graph.aget_state(job.config)
    report = snapshot.values.get("report")
    ended = report["stop"] if report and not snapshot.next else None
    if report is None or ended is None or ended["kind"] != "success":
        how = f"ended as {ended['reason']}" if ended else "has not ended"
        raise InputError(f"the run {job.thread!r} {how}; only a plan that came to its goal can be saved")
    return plan_of_run(report["plans"][-1], snapshot.values["request"])
