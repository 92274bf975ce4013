"""A request without a model, through every pattern, on real files: done, or an honest report."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nodes.offline import OFFLINE
from state.context import make_context
from tests.support.runs import PATTERNS, results, statuses

TASK = "count the words of README.md, then multiply it by 2 and write it to result.txt"


def run(pattern: str, task: str, root: Path, home: Path, **settings: Any) -> dict[str, Any]:
    graph = import_module(f"graphs.{pattern}").graph
    context = make_context(root=str(root), home=str(home), writes="allow", **settings)
    report: dict[str, Any] = graph.invoke({"task": task}, context=context)["report"]
    return report


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "README.md").write_text("one two three four five\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_request_of_the_readme_is_carried_out(pattern: str, root: Path, home: Path) -> None:
    report = run(pattern, TASK, root, home)
    assert set(statuses(report).values()) == {"done"}
    assert results(report)["s2"]["output"] == 10
    assert report["answer"].splitlines()[0] == "10"  # what was written is told, not only that something was
    assert (root / "result.txt").read_text(encoding="utf-8") == "10\n"
    assert report["models"]["planner"] == OFFLINE


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_not_understood_ends_in_a_report_that_says_so(pattern: str, root: Path, home: Path) -> None:
    report = run(pattern, "tell me a joke", root, home)
    assert report["stop"]["reason"] == "cannot_be_done"
    assert "“tell me a joke” is not understood" in report["stop"]["message"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_answer_is_what_the_last_steps_gave_and_no_model_was_asked_for_it(
    pattern: str, root: Path, home: Path
) -> None:
    report = run(pattern, "add 17 and 25, then multiply it by 3", root, home)
    assert (report["answer"], report["answered_by"]) == ("126", "code")
    assert set(report["usage"]["roles"]) <= {"planner", "checker"}  # the second could not grade it


def test_an_answer_is_graded_by_no_scores_that_are_made_up(root: Path, home: Path) -> None:
    report = run("self_reflection", "add 17 and 25", root, home)
    assert report["stop"]["reason"] == "unverified"
    assert "can't grade an answer" in report["stop"]["message"] and "LLM_MODEL_ID" in report["stop"]["message"]


def test_an_answer_in_a_schema_is_taken_from_a_result_or_is_not_accepted(root: Path, home: Path) -> None:
    number = run("plan_and_execute", "add 1 and 2", root, home, answer_schema={"type": "number"})
    assert (number["answer"], number["answered_by"], number["stop"]["reason"]) == (3, "code", "done")
    schema = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}
    report = run("plan_and_execute", "add 1 and 2", root, home, answer_schema=schema)
    assert report["stop"]["reason"] == "not_accepted" and report["usage"]["model_calls"] == 2


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"deny": ["calculator"]}, "blocked"), ({"allow": ["read_file"]}, "blocked"),
        ({"limits": {"steps": 1}}, "steps"),
    ],
)  # fmt: skip
def test_a_plan_that_a_rule_forbids_ends_by_that_rule(
    settings: dict[str, Any], reason: str, root: Path, home: Path
) -> None:
    report = run("plan_and_execute", "add 1 and 2, then double it", root, home, **settings)
    assert report["stop"]["reason"] == reason
    assert "offline planner" not in report["stop"]["message"]


def test_a_failed_read_is_not_tried_again(root: Path, home: Path) -> None:
    report = run("plan_and_execute", "read missing.txt", root, home)
    assert report["stop"]["kind"] == "failure"
    assert len(report["results"]) == 1
