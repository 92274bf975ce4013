"""Writes that happen once: an intent is claimed before, the result kept after, a lost outcome is asked for.

Whatever is not known to have failed without effect counts as unknown: it is looked up, or left to a person.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from nodes.asking import Request, decision, reconcile_request
from nodes.calls import Call, Outcome, failed
from nodes.claims import claim, entry_of, give_up, is_gone, release, release_soon
from nodes.failures import by_text, classify, one_line
from nodes.looking_up import Open, looked_up
from nodes.run import Run
from nodes.write_keys import write_key
from state.errors import BudgetSpent, SetupError, ToolFailed
from state.result import FailureClass, Made, failure
from tools.at_work import is_at_work, is_under_way, under_way
from tools.journal import Entry
from tools.processes import this_process

Question = Callable[[Entry, float, float], bool]
STILL_AT_IT = "it is still being made, so that it may yet happen; look again and answer when it has ended"
_POLL = 0.2
_GRACE = 2.0
"""Seconds beyond its time-out that another process is given to keep its result."""


class Tries(Protocol):
    """The running of one call, as `nodes/call.py` does it."""

    made: int
    key: str

    async def output(self, may_retry: Callable[[BaseException], bool] = ...) -> Any:
        """The tool's output; raises what the last try raised."""


async def write_once(planned: Call, run: Run, tries: Tries) -> Outcome:
    """Claims the write, makes it, keeps its result; a write that was claimed before is never simply made again."""
    made: Made = {"call": planned.fingerprint, "nth": await planned.nth(), "key": ""}
    try:
        tries.key = made["key"] = await write_key(planned, run, made["nth"])
    except ToolFailed as error:
        return failed(planned, error, 0)
    outcome = await _claimed(planned, run, tries)
    return replace(outcome, made=[made]) if outcome.status in ("done", "unknown") else outcome


async def _claimed(planned: Call, run: Run, tries: Tries) -> Outcome:
    if await entry_of(run, tries.key) is None and (why := await _stale(planned)):
        return _ended_stale(planned, why)
    with under_way(tries.key):
        try:
            before = await claim(planned, run, tries.key)
        except SetupError as error:
            return await _without_journal(planned, run, tries, error)
        if before is None:
            return await _effect(planned, run, tries)
    return await _reconcile(planned, run, tries, before)


def nothing_happened(error: BaseException) -> bool:
    """Whether a tool promises that its failure left no effect."""
    return isinstance(error, ToolFailed) and error.nothing_happened


async def _stale(planned: Call) -> str:
    """Why a write must not be made on what was read before; only asked where nothing of it has happened yet."""
    return await planned.recheck() if planned.recheck else ""


def _ended_stale(planned: Call, why: str) -> Outcome:
    return Outcome("failed", planned.args, failure=failure("stale", why))


async def _without_journal(planned: Call, run: Run, tries: Tries, error: SetupError) -> Outcome:
    if not run.context.volatile_writes:
        why = f"no write without a journal ({error}); context setting volatile_writes=True allows it"
        cls: FailureClass = "transient" if by_text(str(error)) == "transient" else "policy"
        return Outcome("failed", planned.args, failure=failure(cls, why))
    try:
        output = await tries.output(nothing_happened)
    except Exception as problem:
        if nothing_happened(problem) or isinstance(problem, BudgetSpent):
            return failed(planned, problem, tries.made)
        return await _lost(planned, run, tries, one_line(problem), classify(problem))
    note = "without a journal: nothing guards against a second run"
    return Outcome("done", planned.args, output, attempts=tries.made, note=note)


async def _effect(planned: Call, run: Run, tries: Tries) -> Outcome:
    try:
        output = await tries.output(nothing_happened)
    except BudgetSpent:
        await release(run, tries.key)
        raise
    except asyncio.CancelledError:
        if not tries.made:
            release_soon(run, tries.key)
        raise
    except Exception as error:
        if nothing_happened(error):
            await release(run, tries.key)
            return failed(planned, error, tries.made)
        if (cls := classify(error)) != "timeout":  # what ran out of time may still be at it
            await give_up(run, tries.key)
        return await _lost(planned, run, tries, one_line(error), cls)
    return await _happened(Outcome("done", planned.args, output, attempts=tries.made), run, tries.key)


async def _happened(outcome: Outcome, run: Run, key: str) -> Outcome:
    """Keeps the result; if even that fails the write is still done, and the record says what is missing."""
    try:
        await asyncio.to_thread(run.journal.finish, key, outcome.output)
    except SetupError as error:
        return replace(outcome, note=f"done, but the journal could not keep its result: {error}")
    return outcome


async def _reconcile(planned: Call, run: Run, tries: Tries, before: Entry) -> Outcome:
    """A claim that was there before: done, still being made elsewhere, decided by a person, looked up, or asked for."""
    before = await _settled(planned, run, before)
    if before["state"] == "done":
        return _known(planned, before)
    if await is_gone(run, tries.key):  # whoever had claimed it took the claim back
        return await _claimed(planned, run, tries)
    answer = decision(planned.answers, reconcile_request(planned.step["id"], planned.tool, before))
    early = decision(planned.answers, reconcile_request(planned.step["id"], planned.tool, before, at_work=True))
    if answer is None and early and (early["type"] == "approve" or before["owner"] != this_process()):
        answer = early
    if answer and answer["type"] == "approve":
        output = answer.get("output", "a person confirmed that it happened")
        return await _happened(
            Outcome("done", planned.args, output, note="outcome confirmed by a person"), run, tries.key
        )
    why = f"it was begun in step {before['step']!r} and its result was lost"
    if (not answer or answer is early) and await _asked(run.journal.is_running, planned, before):
        why += ", and the process that began it still runs" if _may_be_at_it(before) else ""
        return await _lost(planned, run, tries, why, "timeout")
    if answer or await looked_up(planned, run, tries.key) is None:
        return await _anew(planned, run, tries, before)
    return await _lost(planned, run, tries, why, claimed=before["claimed"])


def _known(planned: Call, before: Entry, made: int = 0) -> Outcome:
    asked = [reconcile_request(planned.step["id"], planned.tool, before, at_work=flag) for flag in (True, False)]
    note = f"already done in step {before['step']!r}; not repeated"
    if any(decision(planned.answers, request) for request in asked):
        note = "it has ended since it was asked about, with this result; the answer that was given changes nothing"
    return Outcome("done", planned.args, before["output"], attempts=made, note=note)


async def _question(planned: Call, run: Run, before: Entry) -> tuple[Request, str]:
    """What a person is asked about a write whose outcome is open, and what is known of its end."""
    at_work, since = is_at_work(before["key"]), ""
    with suppress(SetupError):
        said = await asyncio.to_thread(run.journal.end_of, before)
        since = f"; it has ended since: {said}" if said else ""
    request = reconcile_request(planned.step["id"], planned.tool, before, at_work=at_work, since=since)
    if at_work and decision(planned.answers, request):
        request["problem"] = STILL_AT_IT
    return request, since


async def _settled(planned: Call, run: Run, before: Entry) -> Entry:
    """Waits for another process or run that may still be making this write; its time-out bounds the wait."""
    entry, began = before, time.monotonic()
    while entry["state"] == "intent" and _may_be_at_it(entry):
        if not await _asked(run.journal.is_in_time, planned, entry, time.monotonic() - began):
            break
        await asyncio.sleep(run.within(_POLL))
        run.meter.before_wait()
        entry = await entry_of(run, before["key"]) or entry
    return entry


def _may_be_at_it(entry: Entry) -> bool:
    """Of this process it is known what it is at; another may be at anything that it claimed."""
    return entry["owner"] != this_process() or is_under_way(entry["key"])


async def _asked(question: Question, planned: Call, entry: Entry, waited: float = 0.0) -> bool:
    """What the journal says of a claim's owner; one that can't be asked may have one that is still at it."""
    longest = (planned.step["timeout"] or planned.tool.timeout) + _GRACE
    try:
        return await asyncio.to_thread(question, entry, longest, waited)
    except SetupError:
        return waited < longest


async def _lost(
    planned: Call, run: Run, tries: Tries, why: str, cls: FailureClass = "permanent", claimed: float | None = None
) -> Outcome:
    """Nobody knows whether a write happened: its look-up is asked, else the question is left to a person."""
    found = await looked_up(planned, run, tries.key)
    if found is not None and not isinstance(found, Open):
        note = "outcome found by the tool's look-up"
        return await _happened(Outcome("done", planned.args, found, attempts=tries.made, note=note), run, tries.key)
    if found is None and cls != "timeout":  # after a time-out it may still happen
        await release(run, tries.key, claimed)
        return Outcome("failed", planned.args, failure=failure(cls, why), attempts=tries.made)
    before = await entry_of(run, tries.key)
    if before and before["state"] == "done":  # in this very moment
        return _known(planned, before, tries.made)
    request, since = await _question(planned, run, before) if before else (None, "")
    why += f"; its look-up failed: {found.why}" if isinstance(found, Open) and found.why else ""
    unknown = failure("unknown_outcome", f"nobody knows whether {planned.tool.name} happened: {why}{since}")
    return Outcome("unknown", planned.args, failure=unknown, attempts=tries.made, request=request)


async def _anew(planned: Call, run: Run, tries: Tries, before: Entry) -> Outcome:
    """Makes a write whose earlier try is known not to have happened, under a claim of its own."""
    why = await _stale(planned)
    with under_way(tries.key):
        try:
            await asyncio.to_thread(run.journal.release, tries.key, before["claimed"])
            if why:
                return _ended_stale(planned, why)
            now = await claim(planned, run, tries.key)
        except SetupError as error:
            return await _lost(planned, run, tries, f"it was begun, and {error}", "timeout")
        if now is None:
            return await _effect(planned, run, tries)
    return await _reconcile(planned, run, tries, now)  # another process took it up
