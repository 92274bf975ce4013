"""Why a reflection ends: nothing is left to improve, nobody can say, or the rounds are used up."""

from nodes.look import Look
from state.stop import Stop, StopReason, stop


def nothing_to_improve(look: Look) -> Stop | None:
    """The last draft passed every check, and its critic found nothing."""
    if look.verdict and look.verdict["outcome"] == "passed":
        return stop(StopReason.DONE, "the critic found nothing to improve", [str(look.verdict["scores"])])
    return None


def not_reviewed(look: Look) -> Stop | None:
    """Nobody could say what the draft is worth: that is no success, and there is nothing to refine by."""
    if look.verdict and look.verdict["outcome"] == "unverified":
        return stop(StopReason.UNVERIFIED, "; ".join(look.verdict["problems"]) or "the draft could not be reviewed")
    return None


def nothing_against(look: Look) -> Stop | None:
    """An answer was given, and no check by code speaks against it."""
    if look.verdict and look.verdict["outcome"] == "passed":
        checked = [check["condition"] for check in look.verdict["checks"]]
        said = "every check by code passed" if checked else "no check was asked for, so nothing but the model vouches"
        return stop(StopReason.DONE, f"the task is answered; {said}", checked)
    return None


def refuted(look: Look) -> Stop | None:
    """A check by code speaks against the answer, and nobody may try again."""
    if look.verdict and look.verdict["outcome"] == "failed":
        return stop(StopReason.NOT_ACCEPTED, "; ".join(look.verdict["problems"][:2]))
    return None
