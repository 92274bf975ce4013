"""The only place that runs a tool: arguments, policy, approval, policy again, claim, run, result.

Leaves out: what a step means to its plan (`nodes/executor.py`), and how a write happens once (`nodes/writes.py`).
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nodes.answers import fitting, rejection
from nodes.ask import ask_text
from nodes.asking import approval_request, decision, with_care
from nodes.calls import Call, Outcome, error_in, failed, refusal
from nodes.decisions import retried
from nodes.failures import by_text, classify, one_line, retrying
from nodes.health import out, watched
from nodes.late import left_of
from nodes.prompts.executor import carry_out
from nodes.recording import note_call, record_try, remembered
from nodes.repeats import careful
from nodes.run import Run
from nodes.telemetry import tool_call
from nodes.trust import in_words
from nodes.typed_args import is_small, misfit
from nodes.write_keys import done_before
from nodes.writes import write_once
from state.errors import BudgetSpent, ToolFailed, shorten
from state.plain import plain
from state.result import UNMADE, FailureClass, Status, failure
from tools.at_work import Left, at_work
from tools.bounded import TimeIsOver, bounded
from tools.constraints import must_be_approved, violated
from tools.policy import forbidden, needs_approval
from tools.tool import ToolEnv

SAID = 500
"""Characters of a person's words that stand in a report; the whole stands in the answer."""
LONG_SECONDS = 10.0
"""What the look at a long result by its schema may take, in a thread."""
_REFUSED = ("auth", "not_found", "rate_limit")
"""Errors in an output that say that nothing was done; any other leaves open what a write did before it."""


class _Ended(Exception):
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


async def call(planned: Call, run: Run) -> Outcome:
    """Takes a call through every stage, in this order; the first stage that ends it decides."""
    try:
        for stage in (check_arguments, check_policy, only_in_shadow, ask_person, check_arguments, check_policy):
            planned = stage(planned, run)
    except _Ended as ended:
        return await _worth_asking(ended.outcome, planned, run)
    return await run.replay.outcome(planned, run) if run.replay else await _carry_out(planned, run)


async def _worth_asking(outcome: Outcome, planned: Call, run: Run) -> Outcome:
    """A person is not asked about a call that its tool would refuse, and is told of a write that is done already."""
    if outcome.status != "waiting" or outcome.request is None:
        return outcome
    reason = await remembered(run, f"refused {planned.fingerprint}", lambda: refusal(planned.tool, planned.args))
    if reason:
        return Outcome("failed", planned.args, failure=reason)
    what = f"done {planned.step['id']} {planned.part} {planned.fingerprint}"
    done = await remembered(run, what, lambda: done_before(planned, run)) if planned.tool.effect == "write" else ""
    return replace(outcome, request=with_care(outcome.request, done)) if done else outcome


async def _carry_out(planned: Call, run: Run) -> Outcome:
    """Really does it, and records what came of it."""
    tries, began = Tries(planned, run), time.time()
    try:
        outcome = await (write_once(planned, run, tries) if planned.tool.effect == "write" else _read(planned, tries))
    except BudgetSpent as spent:
        outcome = Outcome("not_run", planned.args, failure=failure("budget", f"{spent.limit}: {spent}"))
    await note_call(run, planned, outcome, began)
    return outcome


def check_arguments(planned: Call, run: Run) -> Call:
    """Resolved arguments must fit the tool's schema."""
    if found := planned.misfits:
        raise _ended(planned, "failed", "invalid_arguments", f"{planned.tool.name}: {'; '.join(found[:3])}")
    return planned


def check_policy(planned: Call, run: Run) -> Call:
    """Settings and constraints must allow the tool."""
    constraints = run.request["constraints"]
    if why := forbidden(planned.tool, run.context, constraints) or violated(planned.tool, planned.args, constraints):
        raise _ended(planned, "failed", "policy", why)
    flow = run.untrusted.get(planned.step["id"])
    if flow and planned.tool.effect == "write" and run.context.untrusted_writes == "forbid":
        raise _ended(planned, "failed", "policy", f"{in_words(flow)}, which is not allowed")
    return planned


def only_in_shadow(planned: Call, run: Run) -> Call:
    """In shadow mode a write is decided and logged, and nothing is changed."""
    if run.context.shadow and planned.tool.effect == "write":
        run.event("shadow_write", step=planned.step["id"], reason=planned.tool.name, evidence=[planned.args])
        raise _Ended(Outcome("skipped", planned.args, note=f"shadow mode: {planned.tool.name} would have run"))
    return planned


def ask_person(planned: Call, run: Run) -> Call:
    """A write waits for a person, who may approve it, edit its arguments, or reject it."""
    if not (needs_approval(planned.tool, run.context) or must_be_approved(planned.tool, run.request["constraints"])):
        return planned
    results = planned.places.board.results if planned.places else {}
    look = careful(planned.step, planned.fingerprint, results)
    request = approval_request(run, planned.step["id"], planned.part, planned.tool, planned.args, look)
    answer = decision(planned.answers, request) or rejection(planned.answers, planned.tool, planned.args)
    if answer is None and (why := out(planned.tool, run)):
        raise _ended(planned, "failed", "transient", why)
    if answer is None:
        raise _Ended(Outcome("waiting", planned.args, note="waits for approval", request=request))
    if answer["type"] == "reject":
        raise _ended(
            planned, "failed", "rejected", shorten(answer.get("message") or "a person rejected this call", SAID)
        )
    if answer["type"] == "respond":
        value = fitting(answer["value"], planned.tool.output_schema)
        raise _Ended(Outcome("done", planned.args, value, note=UNMADE))
    if answer["type"] != "edit":
        return planned
    places = planned.places and replace(planned.places, chosen=True)
    return replace(planned, args=answer.get("args", planned.args), places=places)


async def _read(planned: Call, tries: "Tries") -> Outcome:
    try:
        output = await tries.output()
    except Exception as error:
        return failed(planned, error, tries.made)
    if why := await breaks_contract(planned, output):
        return Outcome("failed", planned.args, output, failure("acceptance", why), tries.made)
    return Outcome("done", planned.args, output, attempts=tries.made)


async def breaks_contract(planned: Call, output: Any) -> str:
    """Why a result is not what its tool declares: the plan was checked against that schema and builds on it."""
    schema = planned.tool.output_schema
    if not schema:
        return ""
    try:
        # a large result takes its time, and a thread costs more than the look at a small one
        small = is_small(output)
        why = misfit(output, schema) if small else await asyncio.to_thread(misfit, output, schema, LONG_SECONDS)
    except Exception as error:
        why = f"the schema is broken: {one_line(error)}"
    return f"the result does not fit the schema of {planned.tool.name}: {why}" if why else ""


class Tries:
    """The running itself: time-out, retry by class, and how many tries it took."""

    def __init__(self, planned: Call, run: Run, key: str = "") -> None:
        self.planned, self.run, self.key, self.made = planned, run, key, 0

    async def output(self, may_retry: Callable[[BaseException], bool] = lambda _: True) -> Any:
        """The tool's output, JSON-plain; raises what the last try raised."""
        wanted = self.planned.step["retries"]
        retries = self.run.limits.retries if wanted is None else min(wanted, self.run.limits.retries)
        late_is_final = self.planned.step["on_failure"] == "fallback"

        def again(error: BaseException) -> bool:
            passing = may_retry(error) and not (late_is_final and classify(error) == "timeout")
            return passing and not out(self.planned.tool, self.run)

        tell = retried(self.run, self.planned.tool.name, self.planned.step["id"])
        return await retrying(retries, self.run.meter, again, tell)(self._try)

    async def _try(self) -> Any:
        async with record_try(self.run, self.planned, self.made + 1), watched(self.planned, self.run):
            with tool_call(self.run, self.planned, self.made + 1):
                return await self._once()

    async def _once(self) -> Any:
        planned = self.planned
        if self.made and (why := violated(planned.tool, planned.args, self.run.request["constraints"])):
            raise ToolFailed(why, "policy")  # the deadline may have passed since the first try
        self.run.meter.before_tool()
        self.made += 1
        seconds = self.planned.step["timeout"] or self.planned.tool.timeout
        within, left = self.run.within(seconds), left_of(self.run, self.key)
        try:
            output = plain(await bounded(self._work(left), within, left))
        except TimeIsOver as error:
            self._deadline()
            why = f"{self.planned.tool.name} gave no result within {within:.3g} s"
            why += f", all that the limit seconds={self.run.limits.seconds:g} left it" if within < seconds else ""
            raise ToolFailed(why, "timeout", nothing_happened=False) from error
        if message := error_in(output):
            cls = by_text(message)
            raise ToolFailed(message, cls, nothing_happened=cls in _REFUSED)
        return output

    async def _work(self, left: Left | None) -> Any:
        with at_work(self.key, left):
            return await self.planned.tool.run(self.planned.own_args, self._env())

    def _deadline(self) -> None:
        left = self.run.meter.remaining()
        if left == 0.0 and self.planned.tool.effect == "read":
            raise self.run.meter.late()

    def _env(self) -> ToolEnv:
        async def in_words(instruction: str, data: Any) -> str:
            messages = carry_out(instruction, data, self.run.language)
            return await ask_text(messages, role="executor", run=self.run, step=self.planned.step["id"])

        return ToolEnv(ask=in_words, key=self.key, language=self.run.language)


def _ended(planned: Call, status: Status, cls: FailureClass, message: str) -> _Ended:
    return _Ended(Outcome(status, planned.args, failure=failure(cls, message)))
