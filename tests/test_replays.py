"""Recorded answers of real models judged anew: PlanBench by STRIPS, MBPP by its tests; plans in published notations."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from evals import fewshots, mbpp, planbench
from evals.oracle import OracleModel
from evals.recorded import Attempted, RecordedModel
from evals.runner import Record, run_tasks
from evals.strips import Problem, judge, read_problem
from evals.tasks import Task
from nodes.drafting import new_steps
from nodes.plan_check import check_plan
from nodes.reading.actions import read_actions
from state.plan import PlanDraft
from tests.support.gold import CALL_TOOLS, DATA, IN_TURNS, SOLVED, needs_data, wrong
from tools.catalogue import Catalogue
from tools.code import run_tests

pytestmark = pytest.mark.slow

SEED = 20240807
REPLANS = {
    "plan_and_execute": (2, 3, 4),
    "self_reflection": (3, 5, 7),
    "react": (2, 3, 4),
    "combined": (3, 4, 5),
    "plan_act_reflect": (3, 5, 6),  # the same fault is looked at once
}
"""Calls of a model where the first recorded attempt is valid, the second, the third."""


def replay(tasks: Sequence[Task], pattern: str) -> list[Record]:
    return asyncio.run(run_tasks(tasks, pattern, settings={"model": RecordedModel.of(tasks)}))


# --- PlanBench


@cache
def problems() -> list[Attempted]:
    return list(planbench.tasks(DATA))


@needs_data
def test_our_verdict_on_every_recorded_plan_is_the_recorded_one_and_for_the_same_reason() -> None:
    domain, seen = planbench.domain(DATA), Counter[bool]()
    for row in planbench.rows(DATA):
        problem = read_problem(domain, row["problem"])
        for attempt in row["attempts"]:
            verdict = judge(problem, attempt["plan"].splitlines())
            seen[verdict.valid] += 1
            assert verdict.valid == attempt["valid"], row["id"]
            assert (verdict.step, {" ".join(atom) for atom in verdict.unmet}) == said(attempt["verifier_message"])
    assert seen == {True: 100, False: 20}


def said(message: str) -> tuple[int, set[str]]:
    """The number of the action that fails and what does not hold, in the words of the recorded verifier."""
    step = re.search(r"Time step: (\d+)", message)
    return int(step[1]) if step else 0, set(re.findall(r"\((?!and)([^()]+)\)", message.rpartition(":\n\n")[2]))


@needs_data
def test_our_reader_finds_the_recorded_plan_in_every_raw_reply() -> None:
    none = Counter[str]()
    for row in planbench.rows(DATA):
        for attempt in row["attempts"]:
            try:
                assert [one.lower() for one in read_actions(attempt["raw"])] == attempt["plan"].splitlines()
            except ValueError:
                none[attempt["raw"]] += 1
                assert attempt["plan"] == ""
    assert none == {"No plan.": 3}


@needs_data
@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_without_replanning_a_problem_is_solved_if_the_first_recorded_plan_is_valid(pattern: str) -> None:
    chosen = [task for task in problems() if len(task.attempts) > 1]
    chosen += random.Random(SEED).sample([task for task in problems() if len(task.attempts) == 1], 4)
    records = replay(chosen, pattern)
    assert [record["success"] for record in records] == [len(task.attempts) == 1 for task in chosen]
    assert {record["stop"] for record in records if not record["success"]} == {"not_accepted", "cannot_be_done"}


@needs_data
@pytest.mark.parametrize("pattern", REPLANS)
def test_with_acceptance_by_code_each_further_recorded_plan_is_asked_for_until_one_is_valid(pattern: str) -> None:
    chosen = [task for task in problems() if len(task.attempts) > 1]
    for task, record in zip(chosen, replay(chosen, pattern), strict=True):
        if task.id == "planbench-57":  # the model said "No plan." three times before it gave one
            assert (record["stop"], record["model_calls"], record["tool_calls"]) == ("cannot_be_done", 1, 0)
            continue
        tried = len(task.attempts)
        assert record["success"], record["problems"]
        assert (record["model_calls"], record["tool_calls"]) == (REPLANS[pattern][tried - 1], tried), task.id


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("pattern", SOLVED)
def test_of_100_problems_so_many_are_solved(pattern: str) -> None:
    assert sum(record["success"] for record in replay(problems(), pattern)) == SOLVED[pattern]


DOMAIN = """(define (domain d) (:requirements :strips) (:predicates (on ?x) (off ?x)) ; two facts
 (:action flip :parameters (?x) :precondition (and (off ?x)) :effect (and (on ?x) (not (off ?x)))))"""
PROBLEM = "(define (problem p) (:domain d) (:objects a b) (:init (off a) (off b)) (:goal (and (on a) (on b))))"


def lamps(domain: str = DOMAIN, problem: str = PROBLEM) -> Problem:
    return read_problem(domain, problem)


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        (["(flip a)", "(FLIP B)"], (True, 0, ())),
        (["(flip a)"], (False, 0, (("on", "b"),))),
        (["(flip a)", "(flip a)"], (False, 2, (("off", "a"),))),
        ([], (False, 0, (("on", "a"), ("on", "b")))),
    ],
)
def test_a_plan_is_judged_by_preconditions_effects_and_goal(plan: list[str], verdict: Any) -> None:
    assert judge(lamps(), plan) == verdict


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("(turn a)", "there is no action 'turn'"),
        ("(flip a b)", "flip takes 1 of the objects"),
        ("(flip c)", "flip takes 1 of the objects"),
        ("(flip a", "not one whole expression"),
    ],
)
def test_an_action_that_the_problem_does_not_have_is_named(action: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        judge(lamps(), [action])


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (":strips)", ":strips :typing)", "asks for :typing"),
        ("(and (off ?x)) :effect", "(not (on ?x)) :effect", "only STRIPS is read"),
        ("(and (off ?x)) :effect", "(or (off ?x)) :effect", "only STRIPS is read"),
    ],
)
def test_what_is_more_than_strips_is_refused_and_not_misjudged(before: str, after: str, why: str) -> None:
    assert before in DOMAIN
    with pytest.raises(ValueError, match=why):
        lamps(DOMAIN.replace(before, after))


def test_a_bracket_too_many_after_the_end_is_passed_over_and_one_too_few_is_not() -> None:
    assert lamps(problem=PROBLEM + ")") == lamps()
    with pytest.raises(ValueError, match="not one whole expression"):
        lamps(problem=PROBLEM[:-1])


# --- Reflexion's MBPP


@needs_data
async def test_a_few_recorded_answers_pass_their_tests_or_not_as_recorded() -> None:
    rows = random.Random(SEED).sample(list(mbpp.rows(DATA)), 12)
    assert await unlike(rows) == []


@needs_data
@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_every_recorded_answer_passes_its_tests_or_not_as_recorded() -> None:
    rows = list(mbpp.rows(DATA))
    assert await unlike(rows) == []
    flags = [attempt["reran_passed"] for row in rows for attempt in row["attempts"]]
    assert (len(rows), len(flags), sum(flags)) == (397, 794, 635)


async def unlike(rows: list[dict[str, Any]]) -> list[str]:
    """Answers that the sandbox judges otherwise; an answer with its tests runs in a process of its own."""
    flags: dict[str, list[tuple[str, bool]]] = {}
    for row in rows:
        for attempt in row["attempts"]:
            one = f"{row['name']} ({attempt['by']})", attempt["reran_passed"]
            flags.setdefault(f"{attempt['solution']}\n\n{row['test']}", []).append(one)
    ways, codes = asyncio.Semaphore(2), list(flags)

    async def part(codes: list[str]) -> list[str]:
        async with ways:
            tested = await run_tests("", codes)
        outcomes = zip(codes, tested["tests"], strict=True)
        return [
            f"{name}: {one['outcome']} {one['why']}"
            for code, one in outcomes
            for name, flag in flags[code]
            if (one["outcome"] == "passed") != flag
        ]

    found = await asyncio.gather(*[part(codes[start : start + 40]) for start in range(0, len(codes), 40)])
    return [line for lines in found for line in lines]


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("by", mbpp.BY)
@pytest.mark.parametrize("pattern", [pattern for pattern in CALL_TOOLS if pattern not in IN_TURNS])
def test_an_answer_is_accepted_in_a_pattern_exactly_when_its_tests_pass(pattern: str, by: str) -> None:
    tasks = list(mbpp.tasks(by, folder=DATA))
    chosen = [task for task in tasks if not task.answer()["passed"]][:2] + tasks[:2]
    for task, record in zip(chosen, replay(chosen, pattern), strict=True):
        assert (record["stop"] == "done") == record["success"] == task.answer()["passed"], task.id


@needs_data
@pytest.mark.parametrize("pattern", ["reflection"])
def test_a_recorded_draft_is_refined_exactly_when_its_tests_fail(pattern: str) -> None:
    chosen = [task for kind in by_flags().values() for task in kind[:1]]
    assert not_as_recorded(chosen, replay(chosen, pattern)) == []


@needs_data
@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("pattern", ["reflection"])
def test_every_recorded_draft_whose_tests_fail_is_refined(pattern: str) -> None:
    chosen = [task for (first, _, _), kind in by_flags().items() for task in kind if not first]
    assert len(chosen) == 73
    assert not_as_recorded(chosen, replay(chosen, pattern)) == []


@cache
def flags() -> dict[str, tuple[bool, bool, bool]]:
    """Of each task: whether the tests of the first and of the second answer pass, and whether they are the same."""
    found = {}
    for row in mbpp.rows(DATA):
        first, second = row["attempts"]
        same = first["solution"].strip() == second["solution"].strip()
        found[row["name"]] = (first["reran_passed"], second["reran_passed"], same)
    return found


@cache
def by_flags() -> dict[tuple[bool, bool, bool], list[Attempted]]:
    kinds: dict[tuple[bool, bool, bool], list[Attempted]] = {}
    for task in mbpp.tasks(folder=DATA):
        kinds.setdefault(flags()[task.id], []).append(task)
    return kinds


def not_as_recorded(tasks: Sequence[Attempted], records: Sequence[Record]) -> list[str]:
    """A draft that passes is criticised once; one that fails is refined, until the answer is the one before."""
    lines = []
    for task, record in zip(tasks, records, strict=True):
        first, second, same = flags()[task.id]
        right = (
            ("done", 2, 1) if first else ("no_progress", 2, 1) if same else ("done" if second else "no_progress", 3, 2)
        )
        found = (record["stop"], record["model_calls"], record["tool_calls"])
        if found != right or record["success"] != (first or second):
            lines.append(f"{task.id}: {found} for {right}; {record['problems']}")
    return lines


# --- ReWOO and LLMCompiler


@needs_data
@pytest.mark.parametrize(("name", "published"), [("rewoo", 9), ("llmcompiler", 17)])
def test_every_published_plan_but_the_named_ones_is_read_and_has_no_finding(name: str, published: int) -> None:
    texts = fewshots.texts(name, DATA)
    assert len(texts) == published
    refused = {}
    for row, text in texts.items():
        try:
            draft = fewshots.draft(name, text)
        except ValueError as error:
            refused[row] = str(error)
        else:
            assert len(draft.steps) == len(re.findall(r"^(?:#E\d+ =|\d+\.) ?\w+[\[(]", text, re.MULTILINE)), row
    assert refused == {
        row: "the call in line 2 is never closed" for row in fewshots.DEFECTIVE if row.startswith(f"{name}-")
    }
    for task in fewshots.tasks(name, DATA):
        tools = Catalogue(task.tools)
        assert check_plan(new_steps(PlanDraft(steps=list(task.gold)), 1, {}, tools), tools) == [], task.id


@needs_data
@pytest.mark.parametrize(("name", "plans", "steps"), [("rewoo", 9, 27), ("llmcompiler", 10, 47)])
def test_each_question_of_the_published_plans_is_a_task(name: str, plans: int, steps: int) -> None:
    tasks = list(fewshots.tasks(name, DATA))
    assert (len(tasks), sum(len(task.gold) for task in tasks)) == (plans, steps)
    assert all(list(task.expected()) == [step.id for step in task.gold] for task in tasks)


@needs_data
@pytest.mark.parametrize("pattern", CALL_TOOLS)
@pytest.mark.parametrize("name", fewshots.SETS)
def test_the_published_plans_run_with_exact_counts(name: str, pattern: str) -> None:
    tasks = list(fewshots.tasks(name, DATA))
    records = asyncio.run(run_tasks(tasks, pattern, settings={"model": OracleModel.of(tasks)}))
    assert wrong(tasks, records) == []
