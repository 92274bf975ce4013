"""What code says about a draft before any model is asked: its schema, its conditions, and its tests in the sandbox."""

import asyncio
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from nodes.acceptance import accepted
from nodes.inputs import contents
from nodes.plan_check import Finding
from nodes.run import Run
from nodes.settings import TESTER
from nodes.typed_args import misfit
from nodes.versions import begun, one_more_step
from state.plan import Plan, StepDraft
from state.result import FINISHED, Check, Result, why
from tools.artefacts import load

_BLOCK = re.compile(r"^```[ \t]*\w*[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SCHEMA = "the answer fits its schema"
TESTS = "tests"


def code_in(answer: Any) -> str:
    """The program in an answer: its first fenced block, else all of it."""
    text = answer if isinstance(answer, str) else str(answer)
    found = _BLOCK.search(text)
    return found[1] if found else text


def tests_of(number: int) -> str:
    """The id of the step that runs the tests of a draft."""
    return f"{TESTS}{number}"


def plan_begun(plans: list[Plan], run: Run) -> list[Plan]:
    """The first version, that of a reflection, if it is not there yet."""
    return [] if plans else [begun(run, reason="in drafts", by="drafter")]


def with_tests(number: int, answer: Any, state: Mapping[str, Any], run: Run) -> tuple[list[Plan], list[Finding]]:
    """What the plan grows by, so that the tests of a draft run as any step does, and what is wrong with it."""
    first = plan_begun(state["plans"], run)
    if not run.context.tests:
        return first, []
    args = {"code": code_in(answer), "tests": list(run.context.tests)}
    step = StepDraft(id=tests_of(number), tool=TESTER, args=args, why=f"tests of draft {number}")
    more, _, findings = one_more_step(step, [*state["plans"], *first], state["results"], run, run.tools)
    return [*first, more], findings


async def code_checks(number: int, answer: Any, results: Mapping[str, Result], run: Run) -> list[Check]:
    """Every check of a draft that needs no model."""
    schema = run.context.answer_schema
    given = partial(contents, run.request["inputs"], run.context.home_folder())
    checks = await accepted(run.context.accept, answer, given, "answer")
    if schema is not None:
        unfit = misfit(answer, schema)
        fits: Check = {
            "condition": SCHEMA, "outcome": "failed" if unfit else "passed", "evidence": unfit or "it does",
            "by": "code",
        }  # fmt: skip
        checks.append(fits)
    return [*checks, *(await _tested(results.get(tests_of(number)), run) if run.context.tests else [])]


async def _tested(result: Result | None, run: Run) -> list[Check]:
    """One check for each test; tests that could not run leave it open what the draft is worth."""
    if result is None or result["status"] not in FINISHED:
        said = why(result) if result else "they were not run"
        return [{"condition": TESTS, "outcome": "unverified", "evidence": said, "by": "code"}]
    output = result["output"]
    if result["artefact"]:
        output = await asyncio.to_thread(load, result["artefact"], run.context.home_folder())
    return [_check(test) for test in output["tests"]]


def _check(test: Mapping[str, Any]) -> Check:
    passed = test["outcome"] == "passed"
    said = "it passed" if passed else f"{test['outcome']}: {test['why']}"
    return {"condition": test["test"], "outcome": "passed" if passed else "failed", "evidence": said, "by": "code"}
