"""Claims of writes in the journal: made, looked at, taken back; a run that is cut off before its write leaves none."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from nodes.calls import Call
from nodes.run import Run
from state.errors import SetupError
from tools.at_work import Left, under_way
from tools.journal import Entry
from tools.journals import check_home


async def claim(planned: Call, run: Run, key: str) -> Entry | None:
    """None if the claim was won, else what was there before; raises `SetupError` for a journal that can't be used."""

    def won(before: Any, error: BaseException | None) -> None:
        if before is None and error is None:
            _release_now(run, key)

    left = Left(won)  # the thread goes on where the run is cancelled while it claims
    try:
        return await asyncio.to_thread(_heard, left, planned, run, key)
    except asyncio.CancelledError:
        _soon(key, left.leave)
        raise


def _heard(left: Left, planned: Call, run: Run, key: str) -> Entry | None:
    if not run.replay:  # which has a home of its own and touches nothing
        check_home(run.context, run.request["settings"]["home"])
        if run.request["settings"].get("journal"):
            run.journal.check_begun(run.request["id"])
    with under_way(key):
        before = run.journal.claim(key, run.request["id"], planned.step["id"], planned.tool.name, planned.args)
        left.came(before)
    return before


async def entry_of(run: Run, key: str) -> Entry | None:
    """What the journal has of a write; None also where it can't be asked."""
    with suppress(SetupError):
        return await asyncio.to_thread(run.journal.entry, key)
    return None


async def is_gone(run: Run, key: str) -> bool:
    """Whether a claim that was there is known to be there no more."""
    try:
        return await asyncio.to_thread(run.journal.entry, key) is None
    except SetupError:
        return False


async def release(run: Run, key: str, claimed: float | None = None) -> None:
    """Takes a claim back; one that stays leaves the question to the look-up or to a person."""
    await asyncio.to_thread(_release_now, run, key, claimed)


def release_soon(run: Run, key: str) -> None:
    """The same, for a run that is cancelled and may not wait any more."""
    _soon(key, partial(_release_now, run, key))


def _soon(key: str, work: Callable[[], None]) -> None:
    """Off the loop; until it is done the write is under way, so that others wait for what becomes of it."""
    held = ExitStack()
    held.enter_context(under_way(key))

    def do() -> None:
        with held:
            work()

    asyncio.get_running_loop().run_in_executor(None, do)


def _release_now(run: Run, key: str, claimed: float | None = None) -> None:
    with suppress(SetupError):
        run.journal.release(key, claimed)


async def give_up(run: Run, key: str) -> None:
    """Nobody is at this write any more, so that whoever takes the question up need not wait for it."""
    with suppress(SetupError):
        await asyncio.to_thread(run.journal.give_up, key)
