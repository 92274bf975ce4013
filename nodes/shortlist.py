"""Which tools a planner is told of: all, or where there are many the few that fit the task.

The others stay usable. A plan that names one is checked like any other; a planner that misses a tool says so, and what
it says is looked up. Leaves out: the ranking (`tools/retrieval.py`).
"""

import asyncio
import re
from collections.abc import Sequence

from nodes.plan_check import Finding
from nodes.run import Run
from state.plan import Plan, calls_of
from tools.catalogue import Catalogue
from tools.retrieval import fitting

_NAMED = re.compile(r"(?<=')[\w-]+(?=')|(?<=: )[\w-]+(?=:)")
MANY, FEW = 40, 20
"""Without a setting: above this number of tools, this many are told."""


async def shortlist(tools: Catalogue, run: Run, last: Plan | None, findings: Sequence[Finding]) -> Catalogue:
    """What fits the task and the findings best, with the tools of the last plan and those that a finding names."""
    most = _most(tools, run)
    if len(tools) <= most:
        return tools
    said = [finding["message"] for finding in findings]
    used = [name for step in (last["steps"] if last else []) for name, _ in calls_of(step)]
    named = [name for text in said for name in _NAMED.findall(text)]
    earlier = [one["task"] for one in run.request["earlier"][-1:]]
    found = await asyncio.to_thread(fitting, tools, [run.request["task"], *said, *earlier], most)
    kept = dict.fromkeys(name for name in [*used, *named][:most] if name in tools)
    return Catalogue(tools[name] for name in dict.fromkeys([*kept, *found]))


async def for_turns(tools: Catalogue, run: Run) -> Catalogue:
    """What all turns of a run are told of: by the task alone, since their prompts begin with it, byte for byte."""
    told = await shortlist(run.tools, run, None, [])
    return Catalogue(tool for name, tool in told.items() if name in tools)


async def besides(
    told: Catalogue, tools: Catalogue, run: Run, last: Plan | None, findings: Sequence[Finding]
) -> Catalogue:
    """What one turn is told of as well: tools that earlier turns called, and what fits a finding best."""
    found = await shortlist(tools, run, last, findings) if len(told) < len(tools) else {}
    return Catalogue(tool for name, tool in found.items() if name not in told)


def missing_tool(why: str, told: Catalogue, tools: Catalogue, findings: Sequence[Finding]) -> list[Finding]:
    """What a planner that saw no way with the tools it was told of is told next, once; nothing if it saw them all."""
    if len(told) == len(tools) or any(finding["code"] == "tools_left_out" for finding in findings):
        return []
    message = f"you saw no way: {why} - here are the tools that fit this best; plan with them, or say again why not"
    return [{"step": "", "code": "tools_left_out", "message": message}]


def _most(tools: Catalogue, run: Run) -> int:
    if run.context.retrieve is not None:
        return run.context.retrieve or len(tools)
    return FEW if len(tools) > MANY else MANY
