"""Why a run that looks back ends: the reflector finished it, or something failed that nobody may look at any more."""

from nodes.look import Look
from nodes.stopping import all_done, in_conflict, out_of_reflections
from state.channels import Reflections
from state.stop import Stop, StopReason, stop


def done_and_looked_at(look: Look) -> Stop | None:
    """Every step is finished and nothing has to change."""
    return None if last_word(look.reflections, look.run.plan_version) == "revise" else all_done(look)


def finished_early(look: Look) -> Stop | None:
    """The reflector says that the steps that are left are not needed; nothing that ran is against it."""
    said = last_word(look.reflections, look.run.plan_version)
    if said != "finish" or not look.left or look.having("failed", "blocked", "unknown"):
        return None
    left = [name for name in look.steps if name not in look.everything]
    diagnosis = look.reflections[-1]["diagnosis"] or "the results hold what the task asks for"
    return stop(StopReason.DONE, f"the reflector finished it: {diagnosis}; not run: {', '.join(left)}", left)


def no_reflection_left(look: Look) -> Stop | None:
    """Something failed, nothing is left to run, and nobody may look at it any more."""
    if last_word(look.reflections, look.run.plan_version) == "revise":
        return None
    ended = out_of_reflections(look)
    return ended and (in_conflict(look) or ended)


def last_word(reflections: Reflections, version: int) -> str:
    """What the last look at this version of the plan said: continue, finish or revise; empty where there was none."""
    said = reflections[-1] if reflections else None
    return said["verdict"] if said and said["version"] == version else ""
