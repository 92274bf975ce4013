"""The parts of a map step, in tasks of their own, so that a finished one does not run again after a crash.

They begin in the order of the list, which a resumed run relies on; once a budget has refused one, no other begins.
LangGraph goes through all tasks of a round whenever one begins or ends, so long lists share them: a crash may then run
some look-ups again. Writes have a task each.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from nodes.calls import Call, Outcome
from nodes.places import Places, fingerprint
from nodes.questions import call_or_ask
from nodes.run import Run
from nodes.tasks import start_task
from state.plan import digest

MOST_TASKS = 200
"""Tasks of one step."""
OPEN = 32
"""Parts that have begun and not ended."""
Asked = asyncio.Future[list[dict[str, Any]]]


async def run_parts(planned: list[Call], places: Places, run: Run) -> list[Outcome]:
    """Runs reads at once and writes one after the other; what an earlier process ran is counted here."""
    in_turn = bool(planned) and planned[0].tool.effect == "write"
    outcomes = await (_in_turn(planned, places, run) if in_turn else _side_by_side(planned, run))
    refused = next((outcome.failure for outcome in outcomes if _is_spent(outcome)), None)
    outcomes += [Outcome("not_run", one.args, failure=refused) for one in planned[len(outcomes) :]]
    for one, outcome in zip(planned, outcomes, strict=True):
        if _name(one) not in run.live:
            run.meter.saw_tool_calls(outcome.attempts)
    return outcomes


def _name(planned: Call) -> str:
    return f"{planned.step['id']}[{planned.part}]"


def _start(bundle: Sequence[Call], run: Run) -> Asked:
    """The task of some parts."""
    first, marks = _name(bundle[0]), [one.fingerprint for one in bundle]

    async def part(planned: Call) -> dict[str, Any]:
        run.live.add(_name(planned))
        async with run.slots:
            return asdict(await call_or_ask(planned, run))

    async def body() -> list[dict[str, Any]]:
        return [*await asyncio.gather(*map(part, bundle))]

    return start_task(f"{first}:{marks[0] if len(marks) == 1 else digest(marks)}", body)


async def _side_by_side(planned: list[Call], run: Run) -> list[Outcome]:
    """The outcomes of those that began."""
    size = max(1, -(-len(planned) // MOST_TASKS))
    begun: dict[Asked, int] = {}
    found: dict[int, list[Outcome]] = {}
    try:
        for first in range(0, len(planned), size):
            if any(map(_is_spent, await _ended(begun, found, max(1, OPEN // size - 1)))):
                break
            begun[_start(planned[first : first + size], run)] = first
        await _ended(begun, found, 0)
    finally:
        for future in begun:
            future.cancel()
    return [outcome for first in sorted(found) for outcome in found[first]]


async def _ended(begun: dict[Asked, int], found: dict[int, list[Outcome]], most: int) -> list[Outcome]:
    """Waits until no more than so many tasks are open; gives what has ended."""
    ended: list[Outcome] = []
    while len(begun) > most:
        done, _ = await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        for future in done:
            outcomes = [Outcome(**one) for one in future.result()]
            found[begun.pop(future)] = outcomes
            ended += outcomes
    return ended


async def _in_turn(planned: list[Call], places: Places, run: Run) -> list[Outcome]:
    """Each write sees what the parts before it have made, with the arguments that a person gave them."""
    outcomes: list[Outcome] = []
    for number, one in enumerate(planned):
        places = replace(places, rest=[later.args for later in planned[number + 1 :]])
        [made] = await _start([replace(one, places=places)], run)
        outcomes.append(Outcome(**made))
        if _is_spent(outcomes[-1]):
            break
        places = places.after(outcomes[-1].made, fingerprint(one.tool, outcomes[-1].args))
    return outcomes


def _is_spent(outcome: Outcome) -> bool:
    return outcome.status == "not_run" and outcome.failure is not None and outcome.failure["cls"] == "budget"
