"""The only place that runs a tool: arguments, policy, approval, policy again, claim, run, result.

Leaves out: what a step means to its plan (`nodes/executor.py`), and the re-reading of evidence before a write.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nodes.asking import Request, approval_request, decision, reconcile_request
from nodes.failures import by_text, classify, one_line, retrying
from nodes.run import Run
from nodes.typed_args import problems
from state.errors import BudgetSpent, SetupError, ToolFailed, shorten
from state.plain import plain
from state.plan import Step, canonical, digest
from state.result import Failure, FailureClass, Status, failure
from tools.journal import Entry
from tools.policy import forbidden, needs_approval
from tools.tool import Tool, ToolEnv


@dataclass(frozen=True)
class Call:
    """One call as planned, with resolved arguments; `earlier` are the fingerprints of the writes before it."""

    step: Step
    tool: Tool
    args: dict[str, Any]
    answers: Mapping[str, Any]
    earlier: tuple[str, ...] = ()
    part: int | None = None

    @property
    def fingerprint(self) -> str:
        """The same for every call of this tool with these arguments."""
        return digest([self.tool.name, self.args])


@dataclass(frozen=True)
class Outcome:
    """What became of a call; `request` is what a person must answer first."""

    status: Status
    args: dict[str, Any]
    output: Any = None
    failure: Failure | None = None
    attempts: int = 0
    note: str = ""
    request: Request | None = None


class _Ended(Exception):
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


async def call(planned: Call, run: Run) -> Outcome:
    """Takes a call through every stage, in this order; the first stage that ends it decides."""
    try:
        for stage in (check_arguments, check_policy, ask_person, check_arguments, check_policy):
            planned = stage(planned, run)
        if planned.tool.effect == "write":
            return await _write_once(planned, run)
        return await _read(planned, run)
    except _Ended as ended:
        return ended.outcome
    except BudgetSpent as spent:
        return Outcome("not_run", planned.args, failure=failure("budget", f"{spent.limit}: {spent}"))


def check_arguments(planned: Call, run: Run) -> Call:
    """Resolved arguments must fit the tool's schema."""
    if found := problems(planned.args, planned.tool.args_schema, {}):
        raise _ended(planned, "failed", "invalid_arguments", f"{planned.tool.name}: {'; '.join(found[:3])}")
    return planned


def check_policy(planned: Call, run: Run) -> Call:
    """Settings and constraints must allow the tool."""
    if why := forbidden(planned.tool, run.context, run.request["constraints"]):
        raise _ended(planned, "failed", "policy", why)
    return planned


def ask_person(planned: Call, run: Run) -> Call:
    """A write waits for a person, who may approve it, edit its arguments, or reject it."""
    if not needs_approval(planned.tool, run.context):
        return planned
    request = approval_request(run, planned.step["id"], planned.part, planned.tool, planned.args)
    answer = decision(planned.answers, request)
    if answer is None:
        raise _Ended(Outcome("waiting", planned.args, note="waits for approval", request=request))
    if answer["type"] == "reject":
        raise _ended(planned, "failed", "rejected", answer.get("message") or "a person rejected this call")
    return replace(planned, args=answer.get("args", planned.args))


async def _read(planned: Call, run: Run) -> Outcome:
    tries = _Tries(planned, run)
    try:
        return Outcome("done", planned.args, await tries.output(), attempts=tries.made)
    except Exception as error:
        return _failed(planned, error, tries.made)


async def _write_once(planned: Call, run: Run) -> Outcome:
    """Claims the write, makes it, keeps its result; a write that was claimed before is never simply made again."""
    key = write_key(planned, run)
    try:
        before = await _claim(planned, run, key)
    except SetupError as error:
        if not run.context.volatile_writes:
            raise _ended(planned, "failed", "policy", f"no write without a journal: {error}") from error
        return replace(await _read(planned, run), note="without a journal: nothing guards against a second run")
    if before is None:
        return await _effect(planned, run, key)
    if before["state"] == "done":
        note = f"already done in step {before['step']!r}; not repeated"
        return Outcome("done", planned.args, before["output"], note=note)
    return await _reconcile(planned, run, key, before)


def write_key(planned: Call, run: Run) -> str:
    """Request, tool, arguments, and which of several equal writes of one plan; or the tool's own business key."""
    if planned.tool.business_key is not None:
        return digest([planned.tool.name, planned.tool.business_key(planned.args)])
    return digest(
        [run.request["id"], planned.tool.name, canonical(planned.args), 1 + planned.earlier.count(planned.fingerprint)]
    )


async def _claim(planned: Call, run: Run, key: str) -> Entry | None:
    given = (key, run.request["id"], planned.step["id"], planned.tool.name, planned.args)
    return await asyncio.to_thread(run.journal.claim, *given)


async def _effect(planned: Call, run: Run, key: str) -> Outcome:
    tries = _Tries(planned, run, key)
    try:
        output = await tries.output(may_retry=_nothing_happened)
    except BudgetSpent:
        await asyncio.to_thread(run.journal.release, key)
        raise
    except Exception as error:
        if not _nothing_happened(error):
            return await _unknown(planned, run, key, one_line(error), tries.made)
        await asyncio.to_thread(run.journal.release, key)
        return _failed(planned, error, tries.made)
    await asyncio.to_thread(run.journal.finish, key, output)
    return Outcome("done", planned.args, output, attempts=tries.made)


async def _reconcile(planned: Call, run: Run, key: str, before: Entry) -> Outcome:
    """An intent without a result: the tool's own look-up says what happened, else a person does."""
    answer = decision(planned.answers, reconcile_request(planned.step["id"], planned.tool, before))
    if answer is None:
        return await _unknown(planned, run, key, f"it was begun in step {before['step']!r} and its result was lost", 0)
    if answer["type"] == "approve":
        output = answer.get("output", "a person confirmed that it happened")
        await asyncio.to_thread(run.journal.finish, key, output)
        return Outcome("done", planned.args, output, note="outcome confirmed by a person")
    return await _anew(planned, run, key)


async def _unknown(planned: Call, run: Run, key: str, why: str, attempts: int) -> Outcome:
    """Nobody knows whether a write happened: its look-up is asked, else the question is left to a person."""
    if planned.tool.lookup is not None:
        return await _looked_up(planned, run, key, why, attempts)
    before = await asyncio.to_thread(run.journal.entry, key)
    request = reconcile_request(planned.step["id"], planned.tool, before) if before else None
    lost = failure("unknown_outcome", f"nobody knows whether {planned.tool.name} happened: {why}")
    return Outcome("unknown", planned.args, failure=lost, attempts=attempts, request=request)


async def _looked_up(planned: Call, run: Run, key: str, why: str, attempts: int) -> Outcome:
    assert planned.tool.lookup is not None
    found = await planned.tool.lookup(planned.args, key)
    if found is not None:
        output = plain(found)
        await asyncio.to_thread(run.journal.finish, key, output)
        return Outcome("done", planned.args, output, attempts=attempts, note="outcome found by the tool's look-up")
    if attempts == 0:
        return await _anew(planned, run, key)
    await asyncio.to_thread(run.journal.release, key)
    return Outcome("failed", planned.args, failure=failure("permanent", why), attempts=attempts)


async def _anew(planned: Call, run: Run, key: str) -> Outcome:
    """Makes a write whose earlier try is known not to have happened, under a claim of its own."""
    await asyncio.to_thread(run.journal.release, key)
    before = await _claim(planned, run, key)
    if before is not None:
        return await _unknown(planned, run, key, "another process is making it", 0)
    return await _effect(planned, run, key)


class _Tries:
    """The running itself: time-out, retry by class, and how many tries it took."""

    def __init__(self, planned: Call, run: Run, key: str = "") -> None:
        self.planned, self.run, self.key, self.made = planned, run, key, 0

    async def output(self, may_retry: Callable[[BaseException], bool] = lambda _: True) -> Any:
        """The tool's output, JSON-plain; raises what the last try raised."""
        wanted = self.planned.step["retries"]
        retries = self.run.limits.retries if wanted is None else min(wanted, self.run.limits.retries)
        late_is_final = self.planned.step["on_failure"] == "fallback"

        def again(error: BaseException) -> bool:
            return may_retry(error) and not (late_is_final and classify(error) == "timeout")

        async for attempt in retrying(retries, self.run.meter.remaining, again):
            with attempt:
                return await self._once()
        raise AssertionError("a retry either returns or raises")

    async def _once(self) -> Any:
        self.run.meter.before_tool()
        self.made += 1
        seconds = self.planned.step["timeout"] or self.planned.tool.timeout
        try:
            async with asyncio.timeout(self.run.within(seconds)):
                output = plain(await self.planned.tool.run(self.planned.args, self._env()))
        except asyncio.CancelledError:
            raise
        except Exception:
            self._deadline()
            raise
        except BaseException as error:  # a tool's SystemExit must not end the run
            raise ToolFailed(one_line(error), nothing_happened=False) from error
        if message := error_in(output):
            cls = by_text(message)
            raise ToolFailed(message, cls, nothing_happened=cls not in ("timeout", "transient"))
        return output

    def _deadline(self) -> None:
        left = self.run.meter.remaining()
        if left == 0.0 and self.planned.tool.effect == "read":
            raise BudgetSpent("seconds", self.run.meter.seconds(), self.run.limits.seconds or 0.0)

    def _env(self) -> ToolEnv:
        from nodes.ask import ask_text
        from nodes.prompts.executor import carry_out

        async def in_words(instruction: str, data: str) -> str:
            messages = carry_out(instruction, data, self.run.language)
            return await ask_text(messages, role="executor", run=self.run)

        return ToolEnv(ask=in_words, key=self.key)


def error_in(output: Any) -> str:
    """The message of an output that is only an error, as many services answer instead of failing."""
    if isinstance(output, Mapping) and output.get("error") and set(output) <= {"error", "code", "status", "message"}:
        return shorten(canonical(output["error"]) if not isinstance(output["error"], str) else output["error"], 300)
    return ""


def _nothing_happened(error: BaseException) -> bool:
    return isinstance(error, ToolFailed) and error.nothing_happened


def _failed(planned: Call, error: Exception, attempts: int) -> Outcome:
    if isinstance(error, BudgetSpent):
        raise error
    message = str(error) if isinstance(error, ToolFailed) else one_line(error)
    return Outcome("failed", planned.args, failure=failure(classify(error), message), attempts=attempts)


def _ended(planned: Call, status: Status, cls: FailureClass, message: str) -> _Ended:
    return _Ended(Outcome(status, planned.args, failure=failure(cls, message)))
