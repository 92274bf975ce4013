"""Whether a run gets anywhere: a plan that was there before changes nothing, nor does a version that gave nothing new.

A failure that may pass is no lack of progress: there the same plan is right, after a pause.
"""

import asyncio
from collections.abc import Hashable, Mapping

from nodes.drafting import content
from nodes.failures import pause_after
from nodes.look import Look
from nodes.run import Run
from state.plan import Plan, Step
from state.result import FINISHED, RETRYABLE, Result, is_finished
from state.stop import Stop, StopReason, stop

_SAYS_LITTLE = ("None", "True", "False", "''", "[]", "{}", "0")
"""Outputs that are evidence only together with what was asked."""


def repeated(steps: list[Step], plans: list[Plan], results: Mapping[str, Result]) -> Plan | None:
    """The latest earlier version that did what these new steps would do, whatever their ids."""
    new = content(steps) if plans else []
    return next((before for before in reversed(plans) if new in _contents(before, results)), None)


def _contents(plan: Plan, results: Mapping[str, Result]) -> list[list[str]]:
    """What a version wrote itself, and what of it is not finished."""
    own = [step for step in plan["steps"] if step["version"] == plan["version"]]
    unfinished = [step for step in plan["steps"] if not is_finished(step["id"], results)]
    return [content(part) for part in (own, unfinished) if part]


def changes_nothing(steps: list[Step], plans: list[Plan], results: Mapping[str, Result]) -> Stop | None:
    """The stop that is due where new steps only do again what an earlier version did, and nothing has changed since."""
    before = repeated(steps, plans, results)
    if before is None or passing(before, results) or _has_fresh(before, results):
        return None
    which = "the last one" if before is plans[-1] else f"version {before['version']}"
    message = f"no new evidence: the new plan does what {which} did; nothing would change"
    return stop(StopReason.NO_PROGRESS, message, [f"plan {before['version']}", *(step["id"] for step in steps)])


def passing(plan: Plan, results: Mapping[str, Result]) -> list[Result]:
    """Results of a version that failed for a reason that may pass."""
    found = [results[step["id"]] for step in plan["steps"] if step["id"] in results]
    return [one for one in found if one["status"] == "failed" and one["failure"] and one["failure"]["cls"] in RETRYABLE]


def _has_fresh(plan: Plan, results: Mapping[str, Result]) -> bool:
    """Whether evidence was read again and had changed: the same step is another call then."""
    return any(results[step["id"]]["fresh"] for step in plan["steps"] if step["id"] in results)


async def back_off(steps: list[Step], plans: list[Plan], results: Mapping[str, Result], run: Run) -> None:
    """Waits before a plan is tried again whose steps failed for a reason that may pass; longer after more tries."""
    before = repeated(steps, plans, results)
    failed = passing(before, results) if before else []
    if not before or not failed or not failed[0]["failure"]:
        return
    tried = sum(one["attempts"] for one in results.values() if one["call"] in {same["call"] for same in failed})
    seconds = run.within(pause_after(tried))
    why = f"{failed[0]['tool']} failed ({failed[0]['failure']['cls']}), which may pass"
    run.event(
        "back_off", reason=f"{why}: plan {before['version']} is tried again after {seconds:.1f} s",
        evidence=[one["step"] for one in failed], next="executor",
    )  # fmt: skip
    await asyncio.sleep(0.0 if run.replay else seconds)
    run.meter.before_wait()


def no_new_evidence(look: Look) -> Stop | None:
    """A later version has run, and no step of it gave an output or a failure that had not been there."""
    version = look.run.plan_version
    ran = [result for result in look.results if result["plan_version"] == version and _key(result)]
    if version < 2 or look.left or not ran or any(_is_news(result) for result in ran):
        return None
    before = {_key(one): one["step"] for one in look.everything.values() if one["plan_version"] < version}
    if any(_key(result) not in before for result in ran):
        return None
    same = [f"{result['step']}: as {before[_key(result)]}" for result in ran]
    message = f"version {version} of the plan gave nothing that had not been there: {', '.join(same)}"
    return stop(StopReason.NO_PROGRESS, message, same)


def _is_news(result: Result) -> bool:
    """What changed something, was read again and had changed, or may pass."""
    wrote = result["effect"] == "write" and result["status"] in FINISHED
    return wrote or bool(result["fresh"]) or bool(result["failure"] and result["failure"]["cls"] in RETRYABLE)


def _key(result: Result) -> Hashable:
    """What a result is evidence of; None where the step did not run."""
    if result["status"] in FINISHED or (result["failure"] and result["failure"]["cls"] == "acceptance"):
        asked = result["call"] if repr(result["output"]) in _SAYS_LITTLE else ""
        return ("output", result["digest"], asked)
    if result["status"] == "failed" and result["failure"]:
        return ("failure", result["call"] or result["hash"], result["failure"]["cls"], result["failure"]["message"])
    return None
