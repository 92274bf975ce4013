"""The turns of a reasoner as it is told of them: what it said, and what came of it."""

import json
from collections.abc import Mapping
from typing import Any

from nodes.prompts.reasoner import Told
from nodes.views import ROOM, shortened, view
from state.plan import Plan, Step
from state.result import Result
from state.thought import Thought
from tools.artefacts import as_json

PLANNER = "planner"
"""Who writes a plan that a turn asked for."""
LAST = 8
"""Observations that stay whole however long a run gets."""


def told(thoughts: list[Thought], results: Mapping[str, Result], plans: list[Plan]) -> list[Told]:
    """The turns that have run, as the model said them, and what came of each: of a call its result, of a plan all."""
    steps = {step["id"]: step for plan in plans for step in plan["steps"]}
    written = iter([plan for plan in plans if plan["by"] == PLANNER])
    own = {thought["step"] for thought in thoughts}
    out: list[Told] = []
    room = _Room(out)
    for thought in thoughts:
        if thought["step"] in results:
            step, result = steps[thought["step"]], results[thought["step"]]
            out.append((_said(thought, step), step["id"], view(result, step["args"])))
            room.took(result)
        elif thought["next"] == "plan" and (plan := next(written, None)):
            out.append((_said(thought, None), f"plan{plan['version']}", _of_plan(plan, own, results)))
    return out


class _Room:
    """Shortens the earlier observations of a long run: many in one go, so that in between a prompt only grows."""

    def __init__(self, turns: list[Told]) -> None:
        self._turns, self._whole, self._size = turns, 0, 0

    def took(self, result: Result) -> None:
        """One more observation stands there."""
        self._size += len(as_json(result["output"]))
        if self._size > ROOM:
            for place in range(self._whole, len(self._turns) - LAST):
                said, name, seen = self._turns[place]
                if "output" in seen:
                    self._turns[place] = said, name, shortened(seen)
            self._whole = max(self._whole, len(self._turns) - LAST)
            self._size = sum(len(as_json(seen.get("output"))) for _, _, seen in self._turns)


def _of_plan(plan: Plan, own: set[str], results: Mapping[str, Result]) -> dict[str, Any]:
    """What came of the steps that a version wrote itself; turns after it add theirs to the same version."""
    steps = [step for step in plan["steps"] if step["version"] == plan["version"] and step["id"] not in own]
    return {
        step["id"]: view(results[step["id"]], step["args"], step["each"]) for step in steps if step["id"] in results
    }


def _said(thought: Thought, step: Step | None) -> str:
    marks = [{key: value for key, value in mark.items() if value} for mark in thought["marks"]]
    turn: dict[str, Any] = {"thought": thought["text"], "marks": marks}
    if step:
        more = {key: value for key, value in (("each", step["each"]), ("rests_on", step["rests_on"])) if value}
        turn |= {"tool": step["tool"], "args": step["args"], **more}
    return json.dumps(turn, ensure_ascii=False)
