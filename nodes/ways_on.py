"""What follows from the failures of a plan: to stop, to ask a person, to plan anew, to go on."""

from nodes.decisions import Decision, decided
from nodes.look import Look
from state.events import Event
from state.result import Check
from state.stop import Stop


def decide_failures(look: Look, ended: Stop | None, log: list[Event]) -> None:
    """Logs for each failure of the current plan what follows from it, where that is not in the log already."""
    bad = [result for result in look.having("failed", "unknown", "not_run") if result["failure"]]
    if not bad:
        return
    way_on = _way_on(look, ended)
    told = {event["step"] for event in log if event["event"] == "failure" and event["next"] == way_on}
    for result in bad:
        if (reason := result["failure"]) and result["step"] not in told:
            step, more = result["step"], "; ".join(_said(check) for check in result["checks"])
            decided(look.run, way_on, result["tool"], reason["cls"], reason["message"], step=step, more=more)


def _said(check: Check) -> str:
    return f"{check['condition']}: {check['outcome']}, {check['evidence']}"


def _way_on(look: Look, ended: Stop | None) -> Decision:
    if ended:
        return "ask" if ended["kind"] == "pause" else "stop"
    return "go on" if look.left or look.thoughts else "replan"
