"""Short ways to write plans, and to run a pattern with a scripted model."""

import json
import re
from typing import Any


def step(name: str, tool: str, args: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One step as a planner writes it."""
    return {"id": name, "tool": tool, "args": args or {}, **more}


def plan(*steps: dict[str, Any], goal: str = "the goal") -> dict[str, Any]:
    """A plan as a planner writes it."""
    return {"goal": goal, "steps": list(steps)}


MET = {"criterion": "it answers the task", "outcome": "passed", "evidence": "the answer says it"}
"""A point of a grading that passed."""
GOOD_GRADE = {"checks": [MET], "completeness": 9, "accuracy": 9, "quality": 9, "accepted": True, "problems": []}


PLANNING = ("one_shot", "plan_and_execute", "self_reflection", "rewoo")
"""The patterns in which a planner writes a whole plan first; the others have tests of their own."""


def turns(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    """The same calls as a reasoner asks for them, a turn each; ids become those of the turns."""
    names = {one["id"]: f"t{place}" for place, one in enumerate(steps, 1)}
    rename = re.compile(r"\$\{steps\.(\w+)")
    args = [json.loads(rename.sub(lambda m: f"${{steps.{names[m[1]]}", json.dumps(one["args"]))) for one in steps]
    rests = [[names.get(name, name) for name in one.get("rests_on", [])] for one in steps]
    return [
        {"thought": "", "tool": one["tool"], "args": said, "rests_on": rest}
        for one, said, rest in zip(steps, args, rests, strict=True)
    ]


def replies_after_plan(pattern: str, answer: str = "the answer") -> list[Any]:
    """What a model says after the plan when all goes well, by pattern."""
    more: dict[str, list[Any]] = {
        "one_shot": [], "plan_and_execute": [answer], "rewoo": [answer], "self_reflection": [answer, GOOD_GRADE],
    }  # fmt: skip
    assert pattern in more, f"add to {__file__} what a model says after the plan of {pattern!r}"
    return more[pattern]


def by_step(report: dict[str, Any]) -> dict[str, Any]:
    """The results of a report by the id of their step."""
    return {result["step"]: result for result in report["results"]}
