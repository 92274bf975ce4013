"""Why reasoning in turns ends: an answer that rests on something, or turns that bring nothing new."""

from nodes.gain import Gained, gains
from nodes.look import Look
from nodes.stopping import in_conflict
from state.result import FINISHED
from state.stop import Stop, StopReason, stop

ENOUGH = 0.15
"""New entities and constraints a call, of which two turns in a row must not both fall short."""


def answered(look: Look) -> Stop | None:
    """The reasoner gave the answer; without any result that it could rest on, nobody has verified it."""
    if not look.thoughts or look.thoughts[-1]["next"] != "finish":
        return None
    if disputed := in_conflict(look):
        return disputed
    finished = [result["step"] for result in look.everything.values() if result["status"] in FINISHED]
    unsure = [r["step"] for r in look.results if any(check["outcome"] == "unverified" for check in r["checks"])]
    if unsure:
        return stop(StopReason.UNVERIFIED, f"an answer was given, but not verified: {', '.join(unsure)}", unsure)
    if not finished and look.run.tools:
        return stop(StopReason.UNVERIFIED, "an answer was given, but it rests on no result of any step")
    return stop(StopReason.DONE, "the task is answered", finished[-5:])


def brings_nothing(look: Look) -> Stop | None:
    """Two turns in a row that brought too little."""
    last = [] if look.left else gains(look.thoughts, look.everything, look.run.memo.of(Gained))[-2:]
    if len(last) < 2 or max(last) >= ENOUGH:
        return None
    told = f"two turns in a row brought under {ENOUGH} new entities and constraints a call"
    return stop(StopReason.NO_PROGRESS, told, [f"gain {gain:.2f}" for gain in last])
