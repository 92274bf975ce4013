"""The turns of a reasoner as it is told of them: what it said, and what came of it."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from nodes.memo import Memo
from nodes.prompts.fence import fence
from nodes.prompts.reasoner import Told, told_turn
from nodes.views import ROOM, shortened, view
from state.plan import Plan, Step
from state.result import Result
from state.thought import Thought

PLANNER = "planner"
"""Who writes a plan that a turn asked for."""
LAST = 8
"""Turns that stay whole however long a run gets."""
MORE = ROOM // 4
"""Characters by which a prompt may at least grow before turns are told in short again."""


def told(
    thoughts: list[Thought], results: Mapping[str, Result], plans: list[Plan], memo: Memo
) -> tuple[list[str], list[Told]]:
    """The turns that have run: those that are told in short, then those as the model said them, with what came of each.

    What comes of a call is its result, of a plan the results of all its steps.
    """
    steps = {step["id"]: step for plan in plans for step in plan["steps"]}
    written = iter([plan for plan in plans if plan["by"] == PLANNER])
    own = {thought["step"] for thought in thoughts}
    room = _Room()
    for thought in thoughts:
        if thought["step"] in results:
            room.take(memo.of(_of_call, thought, steps[thought["step"]], results[thought["step"]]))
        elif thought["next"] == "plan" and (plan := next(written, None)):
            room.take(_of_plan(thought, plan, own, results))
    return room.short, [turn.whole for turn in room.turns]


class _Turn:
    """A turn as it is told while there is room, with what was `seen`, and after that, with `less` of it."""

    def __init__(self, said: dict[str, Any], name: str, seen: dict[str, Any], less: dict[str, Any]) -> None:
        self.whole = told_turn(json.dumps(said, ensure_ascii=False), name, seen)
        self.size = sum(len(str(message.content)) for message in self.whole)
        self._name, self._short = name, {key: value for key, value in said.items() if value} | less

    @cached_property
    def short(self) -> str:
        """All that was said, and what is left of what came of it."""
        return fence(self._name, self._short)


class _Room:
    """Tells the earlier turns of a long run in short: many in one go, so that in between a prompt only grows."""

    def __init__(self) -> None:
        self.short: list[str] = []
        self.turns: list[_Turn] = []
        self._size, self._most = 0, ROOM

    def take(self, turn: _Turn) -> None:
        """One more turn stands there."""
        self.turns.append(turn)
        self._size += turn.size
        if self._size > self._most and (earlier := self.turns[:-LAST]):
            self.short += [turn.short for turn in earlier]
            self.turns = self.turns[-LAST:]
            self._size = sum(map(len, self.short)) + sum(turn.size for turn in self.turns)
            self._most = max(ROOM, self._size + MORE)


def _of_call(thought: Thought, step: Step, result: Result) -> _Turn:
    seen = view(result, step["args"])
    return _Turn(_said(thought, step), step["id"], seen, shortened(seen))


def _of_plan(thought: Thought, plan: Plan, own: set[str], results: Mapping[str, Result]) -> _Turn:
    """What came of the steps that a version wrote itself; turns after it add theirs to the same version."""
    steps = [step for step in plan["steps"] if step["version"] == plan["version"] and step["id"] not in own]
    seen = {
        step["id"]: view(results[step["id"]], step["args"], step["each"]) for step in steps if step["id"] in results
    }
    less = {"results": {name: shortened(one) for name, one in seen.items()}}
    return _Turn(_said(thought, None), f"plan{plan['version']}", seen, less)


def _said(thought: Thought, step: Step | None) -> dict[str, Any]:
    marks = [{key: value for key, value in mark.items() if value} for mark in thought["marks"]]
    turn: dict[str, Any] = {"thought": thought["text"], "marks": marks}
    if step:
        more = {key: value for key, value in (("each", step["each"]), ("rests_on", step["rests_on"])) if value}
        turn |= {"tool": step["tool"], "args": step["args"], **more}
    return turn
