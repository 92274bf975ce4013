"""Requests that other people wrote, with gold calls: what the offline planner plans is right, the rest is refused.

Needs the folder of public data sets in FORETHOUGHT_DATA (bfcl/, acebench/).
"""

import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from state.plan import PlanDraft, StepDraft
from tests.support.offline import described, planned

FOLDER = Path(os.environ.get("FORETHOUGHT_DATA") or "-")
pytestmark = pytest.mark.skipif(not (FOLDER / "bfcl").is_dir(), reason="FORETHOUGHT_DATA names no folder with bfcl/")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def plain(value: Any) -> Any:
    """A value as the benchmark compares it: letters and digits only, numbers by value."""
    if isinstance(value, str):
        return re.sub(r"[ ,./\-_*^']", "", value).lower()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def is_gold(step: StepDraft, gold: dict[str, dict[str, list[Any]]]) -> bool:
    ((name, accepted),) = gold.items()
    known = all(plain(value) in map(plain, accepted.get(key, [])) for key, value in step.args.items())
    return step.tool == name and known and all(key in step.args or "" in values for key, values in accepted.items())


def outcome(draft: PlanDraft, gold: list[dict[str, Any]]) -> str:
    if draft.impossible:
        return "refused"
    left = list(gold)
    for step in draft.steps:
        match = next((call for call in left if is_gold(step, call)), None)
        if match is None:
            return "wrong"
        left.remove(match)
    return "wrong" if left else "right"


@cache
def counted(name: str, with_built_in: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row, answer in zip(rows(f"bfcl/{name}.jsonl"), rows(f"bfcl/{name}_answer.jsonl"), strict=True):
        tools = [{**spec, "args": spec["parameters"], "returns": None, "effect": "read"} for spec in row["function"]]
        tools += described() if with_built_in else []
        counts[outcome(planned(row["question"][0][-1]["content"], tools=tools), answer["ground_truth"])] += 1
    return counts


@pytest.mark.parametrize("with_built_in", [False, True])
def test_one_call_among_several_functions(with_built_in: bool) -> None:
    counts = counted("multiple", with_built_in)
    assert counts["right"] >= 48, counts
    assert counts["right"] / (counts["right"] + counts["wrong"]) >= 0.9, counts


def test_several_calls_are_refused_rather_than_guessed() -> None:
    counts = counted("parallel", False) + counted("parallel_multiple", False)
    assert counts["wrong"] <= 4, counts


@pytest.mark.parametrize("kind", ["incomplete", "irrelevant"])
def test_what_lacks_an_argument_or_a_tool_is_refused(kind: str) -> None:
    planned_anyway = []
    for row in rows(f"acebench/data_special_{kind}.jsonl"):
        tools = [{**spec, "args": spec["parameters"], "returns": None} for spec in row["function"]]
        task = row["question"].removeprefix("user:").strip()
        if not planned(task, tools=tools).impossible:
            planned_anyway.append(task)
    assert not planned_anyway


def test_the_figures_in_the_documentation_are_the_measured_ones() -> None:
    text = (Path(__file__).parent.parent / "docs" / "offline.md").read_text(encoding="utf-8")
    for name in ("multiple", "parallel", "parallel_multiple"):
        counts = counted(name, False)
        assert f"| {name} | {counts.total()} | {counts['right']} | {counts['refused']} | {counts['wrong']} |" in text
