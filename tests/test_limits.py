"""Every limit ends a run under its own name in every pattern where it can; docs/limits.md says where and why not."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from state.errors import ToolFailed
from state.limits import Limits
from state.stop import StopReason
from tests.support.plans import GOOD_GRADE, plan, step, turns
from tests.support.script import Reply
from tests.support.scripted_model import ScriptedModel
from tools.tool import read

PAGE = (Path(__file__).parent.parent / "docs" / "limits.md").read_text(encoding="utf-8")
SPEC = {
    "retries": 2, "failures": 3, "replans": 2, "iterations": 8, "same_call": 3, "steps": 15, "reflections": 2,
    "attempts": 3,
}  # fmt: skip
ENDS_NOTHING = {"retries", "all_retries", "plan_feedback"}
"""Limits at which something is given up, and the run ends for that reason."""
OF_THE_CALLER = {StopReason.STOP_CONDITION.value, StopReason.RECURSION_LIMIT.value}
"""What ends a run and is no limit of ours (tests/test_stop_when.py, tests/test_supersteps.py)."""


def work(name: str) -> str:
    """Works."""
    return name


async def slow() -> str:
    """Takes long."""
    await asyncio.sleep(30)
    return "late"


def fail() -> str:
    """Fails."""
    raise LookupError("gone")


def lacks() -> str:
    """Lacks something."""
    raise ToolFailed("which one?", "missing_input")


@dataclass
class Recipe:
    """What brings a run to a limit."""

    limits: dict[str, Any]
    steps: list[Any] = field(default_factory=lambda: [A, B])
    settings: dict[str, Any] = field(default_factory=dict)
    turns: int | None = None
    """How many of the steps a reasoner comes to ask for, where that is fewer."""


A = step("E1", "work", {"name": "a"})
B = step("E2", "work", {"name": "${steps.E1}b"})
BAD = step("E1", "fail")


def outline(*steps: str, **more: Any) -> dict[str, Any]:
    """A plan in words."""
    return {"goal": "", "steps": list(steps), **more}


THINKING = {
    "failures": [outline("a", "b"), ValueError("gone")],
    "iterations": [outline("a", "b"), "1"],
    "steps": [outline("a", "b")],
    "questions": [outline(questions=[{"name": name, "question": f"{name}?"}]) for name in ("which", "when")],
    "model_calls": [],
    "tool_calls": [outline("a", "b"), "1"],
    "tokens": [outline("a")],
    "money": [outline("a")],
    "seconds": [outline("a"), Reply("late", delay=30)],
}
"""What a model says in plan-and-solve on the way to a limit."""
DRAFT = {"answer": "def f(): return 1", "replies": [{"finding": "f1", "done": "fixed", "because": "x"}]}
FAILS = {"accept": ["len(answer) > 99"]}
DRAFTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "steps": (["def f(): return 0", DRAFT], {"tests": ["assert f() == 2"]}),
    "reflections": (["short"], FAILS),
    "model_calls": ([], {}),
    "tool_calls": (["def f(): return 0", DRAFT], {"tests": ["assert f() == 2"]}),
    "tokens": (["short"], FAILS),
    "money": (["short"], FAILS),
    "seconds": (["import time"], {"tests": ["time.sleep(30)"]}),
}
"""What a drafter says in reflection on the way to a limit, and what is set."""
SO_FAR = {"thought": "", "answer": "x"}
POOR = {**GOOD_GRADE, "quality": 3, "accepted": False}
COMBINED = {
    "replans": [*turns(A), {"thought": "If it works?"}],
    "reflections": [*turns(A), SO_FAR, POOR],
    "attempts": [*turns(A), SO_FAR, POOR],
}
"""What is said where turns change the mode and their answer is graded."""
RECIPES = {
    "failures": Recipe({"failures": 1}, [BAD, step("E2", "work", {"name": "x"})], turns=1),
    "replans": Recipe({"replans": 0}, [BAD]),
    "iterations": Recipe({"iterations": 1}, settings={"check_after": "step"}, turns=1),
    "same_call": Recipe({"same_call": 1}, [A, step("E2", "work", {"name": "a"}, after=["E1"])]),
    "steps": Recipe({"steps": 1, "plan_feedback": 0}),
    "reflections": Recipe({"reflections": 0}, [BAD]),
    "attempts": Recipe({"attempts": 1}, [BAD]),
    "questions": Recipe({"questions": 1}, [step("E1", "lacks")]),
    "model_calls": Recipe({"model_calls": 0}, []),
    "tool_calls": Recipe({"tool_calls": 1}),
    "tokens": Recipe({"tokens": 1}, turns=1),
    "money": Recipe(
        {"money": 0.000001}, settings={"prices": {"scripted": {"tokens_in": 1.0, "tokens_out": 1.0}}}, turns=1
    ),
    "seconds": Recipe({"seconds": 0.3}, [step("E1", "slow")]),
}


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """What a person says: try again, or a word where one is asked for."""
    allowed = asked["review_configs"][0]["allowed_decisions"]
    return {"type": "approve"} if "approve" in allowed else {"type": "respond", "message": "that one"}


IN_WORDS = [step("E1", "summarise", {"text": "long"}), step("E2", "summarise", {"text": "${steps.E1}"})]
"""What spends words where nothing is planned."""


def replies(pattern: str, limit: str) -> list[Any]:
    """What the planner says on the way to a limit."""
    recipe = RECIPES[limit]
    if pattern == "plan_and_solve":
        return THINKING[limit]
    if pattern == "reflection":
        return DRAFTS[limit][0]
    if pattern == "workflow":
        return ["short"] if limit in ("tokens", "money") else []
    if not recipe.steps:
        return []
    if pattern == "auto":
        seen = {"steps": 3, "dependent": True, "vague": limit in ("reflections", "attempts")}
        return [seen] if limit in ("tokens", "money") else [seen, plan(*recipe.steps)]
    if pattern == "combined" and limit in COMBINED:
        return COMBINED[limit]
    return turns(*recipe.steps)[: recipe.turns] if pattern in ("react", "combined") else [plan(*recipe.steps)]


def table(head: str) -> list[list[str]]:
    """The rows of a table of the page without its head."""
    lines = re.search(rf"^\| {head} \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    assert lines, f"docs/limits.md has no table that begins with {head!r}"
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[0].splitlines()]
    return [rows[0], *rows[2:]]


HEAD, *ROWS = table("limit")
CELLS = [(row[0], pattern, cell) for row in ROWS for pattern, cell in zip(HEAD[1:], row[1:], strict=True)]


@pytest.mark.parametrize(("limit", "pattern"), [(limit, pattern) for limit, pattern, cell in CELLS if cell == "ends"])
async def test_the_report_names_the_limit_that_ended_the_run(
    scripted_model: ScriptedModel, home: Path, limit: str, pattern: str
) -> None:
    recipe = RECIPES[limit]
    scripted_model.reply(*replies(pattern, limit))
    drafting = {"answerer": None, **DRAFTS[limit][1]} if pattern == "reflection" else {}
    settings = {
        "model": scripted_model, "answerer": "offline", "tools": [read(work), read(slow), read(fail), read(lacks)],
        "limits": recipe.limits, **recipe.settings, **drafting,
    }  # fmt: skip
    if pattern == "workflow":
        settings["tools"].append("summarise")
        settings["plan"] = plan(*(IN_WORDS if limit in ("model_calls", "tokens", "money") else recipe.steps))
    graph, thread = graphs.load(pattern, checkpointer=InMemorySaver()), {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "do it"}, thread, context=settings)
    while asked := out.get("__interrupt__"):  # a person who only says: try again
        answers = {one.id: {"decisions": [answered(one.value)]} for one in asked}
        out = await graph.ainvoke(Command(resume=answers), thread, context=settings)
    report = out["report"]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("budget", limit)
    assert report["answer"]
    assert report["missing"]


def test_the_table_has_a_row_for_every_limit_that_ends_a_run_and_a_column_for_every_pattern() -> None:
    ends = {reason.value for reason in StopReason if reason.kind == "budget"} - OF_THE_CALLER
    assert ["limit", *graphs.names()] == HEAD
    assert {row[0] for row in ROWS} == ends == set(RECIPES) == set(Limits.model_fields) - ENDS_NOTHING
    assert {cell for _, _, cell in CELLS} == {"ends", "—"}


def test_every_empty_cell_has_a_reason_and_every_reason_an_empty_cell() -> None:
    _, *reasons = table("limits")
    given = {
        (limit, pattern)
        for limits, patterns, reason in reasons
        for limit in limits.split(", ")
        for pattern in patterns.split(", ")
        if len(reason) > 20
    }
    assert given == {(limit, pattern) for limit, pattern, cell in CELLS if cell == "—"}


def test_the_defaults_are_those_of_the_specification() -> None:
    assert {name: getattr(Limits(), name) for name in SPEC} == SPEC
    assert [getattr(Limits(), name) for name in ("tokens", "money", "seconds", "model_calls", "tool_calls")] == [
        None
    ] * 5


def test_the_defaults_of_the_readme_are_those_of_the_code() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"\| `(\w+)`(?: [a-z ]+)? \| (\d+) ", readme))
    assert told == {name: str(value) for name, value in Limits().model_dump().items() if value is not None}
