"""A write that a turn asks for although an equal one is done or answered: it goes back once, then needs a reason.

In a plan equal writes are meant, since they were written in one view; in turns a model that repeats itself is the
common fault. What a replan makes with other arguments is a risk that the report names. Leaves out: which of several
equal writes a call is when it runs (`nodes/places.py`), held to the same.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodes.board import Board
from nodes.places import fingerprint
from nodes.plan_check import Finding, finding
from nodes.run import Run
from nodes.undone import undone_by
from state.errors import ReferenceMissing, shorten
from state.plan import Plan, Step
from state.result import UNMADE, Result

REPEATS = "repeats_write"


async def repeated(step: Step, results: Mapping[str, Result], run: Run) -> list[Finding]:
    """What a turn is told whose call was made already, with the same arguments."""
    tool = run.tools.get(step["tool"])
    if tool is None or tool.effect != "write":
        return []
    for args in await _arguments(step, results, run):
        call = fingerprint(tool, args)
        made, said = steps_that_made([call], results), _answered(call, results)
        if before := made or said:
            who = "was done already" if made else "was answered by a person"
            done = f"{tool.name} {who} with these arguments, in step {', '.join(before)}: use that result"
            again = "only if the task wants it done once more, ask for it again and say in `again` why"
            return [finding(step["id"], REPEATS, f"{done}; {again}")]
    return []


def _answered(call: str, results: Mapping[str, Result]) -> list[str]:
    """The steps where a person's word stands as what this call gave."""
    return [name for name, one in results.items() if one["note"] == UNMADE and one["call"] == call]


async def _arguments(step: Step, results: Mapping[str, Result], run: Run) -> list[dict[str, Any]]:
    """Those of each call of a step that a turn asks for: everything it refers to is there."""
    board = Board(results, run.request["inputs"], run.context.home_folder())
    try:
        items = await board.resolve(step["each"]) if step["each"] else [None]
        return [await board.resolve(step["args"], item) for item in items]
    except (ReferenceMissing, TypeError):
        return []


def steps_that_made(calls: Iterable[str], results: Mapping[str, Result], but: str = "") -> list[str]:
    """The steps that made one of these calls, which still stands."""
    wanted = set(calls)
    made = [name for name, one in results.items() if wanted & {call["call"] for call in one.get("made", ())}]
    return [name for name in made if name != but and not undone_by(name, results)]


def careful(step: Step, call: str, results: Mapping[str, Result]) -> str:
    """What a person is told before a turn makes a write once more."""
    before = steps_that_made([call], results, but=step["id"]) if "again" in step else []
    return f"the same was done already in step {', '.join(before)}{_because(step)}" if before else ""


def made_again(steps: Iterable[Step], results: Mapping[str, Result]) -> Iterator[str]:
    """Writes that turns made once more, for whoever reads the report."""
    seen: dict[str, str] = {}
    for step in steps:
        made = results[step["id"]].get("made", []) if step["id"] in results else []
        for one in made:
            first = seen.setdefault(one["call"], step["id"])
            if "again" in step and one["nth"] > 1:
                yield f"step {step['id']}: {step['tool']} was made once more, as in step {first}{_because(step)}"


def made_otherwise(plans: Sequence[Plan], results: Mapping[str, Result]) -> Iterator[str]:
    """Writes that a replan asked for beyond what any version before meant, much like one that was made by then."""
    for place, plan in enumerate(plans):
        new = [step for step in plan["steps"] if _is_new(step, plan) and _makes(step, results)]
        for tool in dict.fromkeys(step["tool"] for step in new) if place else ():
            before = [step for step in _all(plans[:place], tool) if _makes(step, results)]
            meant = max(sum(_size(step, results) for step in _all([one], tool)) for one in plans[:place])
            owed = meant - sum(_makes(step, results) for step in before)
            told = [line for step in new if step["tool"] == tool and (line := _otherwise(step, before, results))]
            many = sum(_makes(step, results) for step in new if step["tool"] == tool)
            yield from told if many > owed else ()


def _is_new(step: Step, plan: Plan) -> bool:
    """Whether a planner wrote it in this version: turns are held to `repeated`, and people mean what they edit."""
    return step["version"] == plan["version"] and plan["by"] == "planner" and "again" not in step


def _makes(step: Step, results: Mapping[str, Result]) -> int:
    """How many writes a step made that still stand."""
    made = results[step["id"]].get("made", []) if step["id"] in results else []
    return 0 if step["effect"] != "write" or undone_by(step["id"], results) else len(made)


def _all(plans: Sequence[Plan], tool: str) -> list[Step]:
    return list({step["id"]: step for plan in plans for step in plan["steps"] if step["tool"] == tool}.values())


def _size(step: Step, results: Mapping[str, Result]) -> float:
    """How many writes a step means; nobody knows of a map that has not run."""
    result = results.get(step["id"])
    if result and result["status"] == "skipped":
        return 0
    return 1 if not step["each"] else len(result["parts"]) if result and result["parts"] else math.inf


def _otherwise(step: Step, before: Sequence[Step], results: Mapping[str, Result]) -> str:
    """What differs from a write that was made; empty where all is other, as it is where another thing is meant."""
    args, calls = results[step["id"]]["args"], set(results[step["id"]]["calls"])
    for one in reversed(before):
        was = results[one["id"]]["args"]
        names = dict.fromkeys((*was, *args))
        other = [name for name in names if was.get(name) != args.get(name)]
        if not calls & set(results[one["id"]]["calls"]) and (len(other) < len(names) or len(names) == 1):
            said = ", ".join(f"{name} is {_shown(args, name)} and was {_shown(was, name)}" for name in other)
            return f"step {step['id']}: a replan made {step['tool']} once more, after step {one['id']}: {said}"
    return ""


def _shown(args: Mapping[str, Any], name: str) -> str:
    return shorten(args[name], 60) if name in args else "left out"


def _because(step: Step) -> str:
    return f"; the reason given: {step['again']}" if step.get("again") else ""
