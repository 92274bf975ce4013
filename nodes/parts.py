"""The parts of a map step: each a task of its own, so that a finished one does not run again after a crash."""

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict, replace
from typing import Any

from nodes.calls import Call, Outcome
from nodes.places import Places, fingerprint
from nodes.questions import call_or_ask
from nodes.run import Run
from nodes.tasks import start_task


def _part(planned: Call, run: Run) -> Awaitable[dict[str, Any]]:
    """The task of one part, so that a finished part does not run again after a crash."""
    name = f"{planned.step['id']}[{planned.part}]"

    async def body() -> dict[str, Any]:
        run.live.add(name)
        async with run.slots:
            return asdict(await call_or_ask(planned, run))

    return start_task(f"{name}:{planned.fingerprint}", body)


async def run_parts(planned: list[Call], places: Places, run: Run) -> list[Outcome]:
    """Runs reads at once and writes one after the other; what an earlier process ran is counted here."""
    if planned and planned[0].tool.effect == "write":
        outcomes = await _in_turn(planned, places, run)
    else:
        outcomes = [Outcome(**one) for one in await asyncio.gather(*[_part(one, run) for one in planned])]
    for one, outcome in zip(planned, outcomes, strict=True):
        if f"{one.step['id']}[{one.part}]" not in run.live:
            run.meter.saw_tool_calls(outcome.attempts)
    return outcomes


async def _in_turn(planned: list[Call], places: Places, run: Run) -> list[Outcome]:
    """Each write sees what the parts before it have made, with the arguments that a person gave them."""
    outcomes: list[Outcome] = []
    for number, one in enumerate(planned):
        places = replace(places, rest=[later.args for later in planned[number + 1 :]])
        outcomes.append(Outcome(**await _part(replace(one, places=places), run)))
        places = places.after(outcomes[-1].made, fingerprint(one.tool, outcomes[-1].args))
    return outcomes
