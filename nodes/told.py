"""The turns of a reasoner as it is told of them: what it said, and what came of it."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from nodes.memo import Memo
from nodes.prompts.reasoner import Told, told_turn
from nodes.views import ROOM, shortened, view
from state.plan import Plan, Step
from state.result import Result
from state.thought import Thought
from tools.artefacts import as_json

PLANNER = "planner"
"""Who writes a plan that a turn asked for."""
LAST = 8
"""Observations that stay whole however long a run gets."""


def told(thoughts: list[Thought], results: Mapping[str, Result], plans: list[Plan], memo: Memo) -> list[Told]:
    """The turns that have run, as the model said them, and what came of each: of a call its result, of a plan all."""
    steps = {step["id"]: step for plan in plans for step in plan["steps"]}
    written = iter([plan for plan in plans if plan["by"] == PLANNER])
    own = {thought["step"] for thought in thoughts}
    room = _Room()
    for thought in thoughts:
        if thought["step"] in results:
            room.take(memo.of(_of_call, thought, steps[thought["step"]], results[thought["step"]]))
        elif thought["next"] == "plan" and (plan := next(written, None)):
            room.take(_Turn(_said(thought, None), f"plan{plan['version']}", _of_plan(plan, own, results)))
    return room.told()


class _Turn:
    """A turn as it is told while there is room, and after that."""

    def __init__(self, said: str, name: str, seen: dict[str, Any]) -> None:
        self._said, self._name, self._seen = said, name, seen
        self.size = len(as_json(seen.get("output")))

    @cached_property
    def whole(self) -> Told:
        """With all that came of it."""
        return told_turn(self._said, self._name, self._seen)

    @cached_property
    def short(self) -> "_Turn":
        """With the beginning of what came of a call."""
        return _Turn(self._said, self._name, shortened(self._seen)) if "output" in self._seen else self


class _Room:
    """Shortens the earlier observations of a long run: many in one go, so that in between a prompt only grows."""

    def __init__(self) -> None:
        self._turns: list[_Turn] = []
        self._whole, self._size = 0, 0

    def take(self, turn: _Turn) -> None:
        """One more observation stands there."""
        self._turns.append(turn)
        self._size += turn.size
        if self._size > ROOM:
            earlier = slice(self._whole, len(self._turns) - LAST)
            self._turns[earlier] = [turn.short for turn in self._turns[earlier]]
            self._whole = max(self._whole, len(self._turns) - LAST)
            self._size = sum(turn.size for turn in self._turns)

    def told(self) -> list[Told]:
        """What stands there."""
        return [turn.whole for turn in self._turns]


def _of_call(thought: Thought, step: Step, result: Result) -> _Turn:
    return _Turn(_said(thought, step), step["id"], view(result, step["args"]))


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
