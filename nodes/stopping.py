"""Why a run ends: conditions are pure functions `(look) -> Stop | None`, composed in one visible tuple per pattern."""

from nodes.asking import WAITS
from nodes.conflicts import open_conflicts
from nodes.look import Condition, Look
from state.result import Result, why
from state.stop import Stop, StopReason, limit_reason, stop


def in_trouble(look: Look) -> Stop | None:
    """A node could not do its work and proposed to stop."""
    return look.trouble


def planned(look: Look) -> Stop | None:
    """A dry run ends with the checked plan."""
    if not look.run.context.dry_run or look.asks:
        return None
    return stop(StopReason.PLANNED, "dry run: the plan was checked, nothing was run")


def held_for_person(look: Look) -> Stop | None:
    """Something waits for a person."""
    if look.asks:
        return _asked(look)
    waiting = look.having("waiting")
    if approvals := [result for result in waiting if any(ask["kind"] != "question" for ask in result["requests"])]:
        how = "set writes='allow'" if look.run.context.writes == "ask" else "take it out of the constraint approve"
        return _held(StopReason.NEEDS_APPROVAL, "approval is needed for", approvals, look, how)
    if waiting:
        return stop(StopReason.NEEDS_INPUT, _lacks(waiting[0]), [result["step"] for result in waiting])
    if unknown := look.having("unknown"):
        said = f"{'limit seconds reached during a write: ' * (look.run.meter.remaining() == 0)}an outcome is needed for"
        return _held(StopReason.PENDING_RECONCILE, said, unknown, look, "give the tool a lookup")
    return None


def _asked(look: Look) -> Stop:
    if look.asks[0]["kind"] == "plan":
        said = f"approval is needed for the plan: {look.asks[0]['action_requests'][0]['description']}"
        return stop(StopReason.NEEDS_APPROVAL, said + _how(look, "set approve_plan='never'"))
    questions = [ask["action_requests"][0]["description"] for ask in look.asks]
    how = _how(look, "put the answer into the task or the inputs")
    return stop(StopReason.NEEDS_INPUT, f"a person must say: {' '.join(questions)}{how}", questions)


def _held(reason: StopReason, said: str, results: list[Result], look: Look, instead: str) -> Stop:
    names = [f"{result['step']} ({result['tool']})" for result in results]
    return stop(reason, f"{said} {', '.join(names)}{_how(look, instead)}", [result["step"] for result in results])


def _how(look: Look, instead: str) -> str:
    return "" if look.run.resumable else f"; {WAITS}{instead}"


def _lacks(result: Result) -> str:
    return f"step {result['step']} needs a person: {why(result)}"


def rejected(look: Look) -> Stop | None:
    """A person said no."""
    if found := look.failures("rejected"):
        return stop(StopReason.REJECTED, why(found[0]), [result["step"] for result in found])
    return None


def input_missing(look: Look) -> Stop | None:
    """A step lacks what only a person can give, or its plan says to ask when it fails, and nobody can be asked."""
    for result in look.having("failed"):
        cls = result["failure"]["cls"] if result["failure"] else ""
        left = bool(result["requests"])  # it was asked, and a person left it
        if not left and (cls == "missing_input" or look.steps[result["step"]]["on_failure"] == "ask"):
            return _unasked(look, result)
    return None


def _unasked(look: Look, result: Result) -> Stop:
    allowed = look.run.limits.questions
    if look.run.resumable and allowed and look.asked >= allowed:
        said = f"limit questions reached: {look.asked} of {allowed} answered; {_lacks(result)}"
        return stop(StopReason.QUESTIONS, said, [result["step"]])
    said = _lacks(result) + _how(look, "put it into the task or the inputs")
    return stop(StopReason.NEEDS_INPUT, said, [result["step"]])


def budget_spent(look: Look) -> Stop | None:
    """The meter refused a step of this plan."""
    for result in look.failures("budget"):
        limit, _, message = why(result).partition(": ")
        return stop(limit_reason(limit), message, [result["step"]])
    if len(look.having("failed")) and look.run.meter.failures >= look.run.limits.failures:
        many, allowed = look.run.meter.failures, look.run.limits.failures
        more = "; those that ran side by side had begun before that" if many > allowed else ""
        return stop(StopReason.FAILURES, f"limit failures reached: {many} steps failed, {allowed} may{more}")
    return None


def too_many_rounds(look: Look) -> Stop | None:
    """The limit of rounds is reached and something is left to do."""
    rounds, allowed = look.counts.get("iterations", 0), look.run.limits.iterations
    if rounds >= allowed:
        return stop(StopReason.ITERATIONS, f"limit iterations reached: {rounds} of {allowed} rounds used")
    return None


def rounds_over_midway(look: Look) -> Stop | None:
    """The limit of rounds is reached while steps are still to run; what is finished is graded first otherwise."""
    return too_many_rounds(look) if look.left else None


def all_done(look: Look) -> Stop | None:
    """Every step of the plan is finished and no check failed; success only if every check passed."""
    if look.left or not look.results or look.having("failed", "blocked", "unknown"):
        return None
    if look.verdict and look.verdict["outcome"] == "failed":
        return None
    degraded = [result["step"] for result in look.having("degraded")]
    if unsure := [r["step"] for r in look.results if any(c["outcome"] == "unverified" for c in r["checks"])]:
        return stop(StopReason.UNVERIFIED, f"every step is finished, but not verified: {', '.join(unsure)}", unsure)
    words = "every step is finished" + (f"; a fallback stands in for {', '.join(degraded)}" if degraded else "")
    shadowed = [r["step"] for r in look.having("skipped") if r["effect"] == "write" and look.run.context.shadow]
    words += f"; shadow mode: {', '.join(shadowed)} would have changed something and did not" if shadowed else ""
    return stop(StopReason.DONE, words, [*degraded, *shadowed])


def in_conflict(look: Look) -> Stop | None:
    """Two sources give different numbers for one quantity, and no third decides: a person has to."""
    disputed = [] if look.left else open_conflicts(look.plans, look.everything)
    if not disputed:
        return None
    steps = [step for one in disputed for _, steps in one.values for step in steps]
    return stop(StopReason.CONFLICT, f"evidence in conflict: {'; '.join(map(str, disputed))}", steps)


def steps_failed(look: Look) -> Stop | None:
    """Nothing is left to run, something failed, and this pattern does not replan."""
    bad = [*look.having("failed"), *look.having("blocked")]
    if not bad or look.left:
        return None
    judged = bad[0]["failure"] and bad[0]["failure"]["cls"] == "acceptance"
    reason = StopReason.NOT_ACCEPTED if judged else StopReason.STEPS_FAILED
    return stop(reason, f"step {bad[0]['step']} failed: {why(bad[0])}", [result["step"] for result in bad])


def out_of_replans(look: Look) -> Stop | None:
    """The plan needs another version and no replan is left."""
    used, allowed = look.counts.get("replans", 0), look.run.limits.replans
    if used >= allowed and (found := in_conflict(look)):
        return found
    if used >= allowed and not look.left:
        failed = steps_failed(look)
        cause = failed["message"] if failed else "the plan was not accepted"
        return stop(StopReason.REPLANS, f"limit replans reached: {used} of {allowed} used; {cause}")
    return None


def accepted(look: Look) -> Stop | None:
    """The grading passed."""
    if look.verdict and look.verdict["outcome"] == "passed" and not look.having("failed", "blocked", "unknown"):
        return stop(StopReason.DONE, "the answer was graded and accepted", [str(look.verdict["scores"])])
    return None


def not_graded(look: Look) -> Stop | None:
    """The answer could not be graded: it is no success, and there is nothing to learn from."""
    if look.verdict and look.verdict["outcome"] == "unverified" and not look.left:
        return stop(StopReason.UNVERIFIED, "; ".join(look.verdict["problems"]) or "the answer could not be verified")
    return None


def out_of_attempts(look: Look) -> Stop | None:
    """The attempt failed and no further one is allowed."""
    if look.left or not look.verdict or look.verdict["outcome"] != "failed":
        return None
    limits, cause = look.run.limits, "; ".join(look.verdict["problems"][:2])
    made = look.counts.get("attempts", 0) + 1
    if made >= limits.attempts:
        return stop(StopReason.ATTEMPTS, f"limit attempts reached: {made} of {limits.attempts} made; {cause}")
    return out_of_reflections(look)


def out_of_reflections(look: Look) -> Stop | None:
    """What there is was not accepted, and no reflection is left."""
    used, allowed = look.counts.get("reflections", 0), look.run.limits.reflections
    if used < allowed or look.left or not look.verdict or look.verdict["outcome"] != "failed":
        return None
    cause = "; ".join(look.verdict["problems"][:2])
    return stop(StopReason.REFLECTIONS, f"limit reflections reached: {used} of {allowed} used; {cause}")


ONE_PLAN: tuple[Condition, ...] = (
    in_trouble, planned, in_conflict, all_done, held_for_person, rejected, input_missing, budget_spent, steps_failed,
    too_many_rounds,
)  # fmt: skip
"""The conditions of a pattern that has one plan and never another."""
