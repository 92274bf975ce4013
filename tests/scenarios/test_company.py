"""S3: a report on a private company: its funding is in no register, two sources disagree, a third decides."""

import re
from pathlib import Path
from typing import Any

import pytest

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import (
    TURNING,
    after_planning,
    gives_up,
    grade,
    in_turns,
    look,
    plan,
    reflection,
    results,
    says,
    statuses,
    step,
    turn,
)  # fmt: skip
from tests.support.script import Reply
from tools.tool import read

TASK = "Write a research report on Ferro Labs: products, funding, news."
DOCUMENTS = {
    "products.md": "# Ferro Labs products\n\nFerro Labs makes the Anvil scanner and the Forge printer.\n",
    "daily.md": "# Ferro Labs in the Daily\n\nFerro Labs has raised 100 million in all, the Daily has heard.\n",
    "gazette.md": "# Ferro Labs in the Gazette\n\nCorrection: Ferro Labs has raised 130 million in all.\n",
    "lines.md": "# Ferro Labs by line\n\nAnvil was funded with 80 million, Forge with 50 million.\n",
}
ANSWER = "Ferro Labs makes Anvil and Forge; it has raised 130 million, not 100 as the Daily wrote."


def listed_funding(company: str) -> int:
    """Funding of a listed company, in million."""
    raise ToolFailed(f"{company} is a private company and in no register", "not_found")


def find(text: str, pattern: str) -> float:
    """Gives the number that the brackets of a regular expression find in a text."""
    if (found := re.search(pattern, text)) is None:
        raise ToolFailed(f"nothing in the text fits {pattern}", "not_found")
    return float(found[1])


@pytest.fixture
def context(root: Path, tmp_path: Path) -> dict[str, Any]:
    documents = tmp_path / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    tools = ["search", "calculator", read(find), read(listed_funding)]
    return {"tools": tools, "root": str(root), "documents": str(documents)}


def raised(name: str, source: str) -> list[dict[str, Any]]:
    """What one paper says was raised."""
    measured = {"measures": {"funding in million": "output"}}
    return [
        step(f"{name}_page", "search", query=f"Ferro Labs {source}", limit=1),
        step(name, "find", text=f"${{steps.{name}_page[0].text}}", pattern=r"raised (\d+) million", more=measured),
    ]


FIRST = [
    step("products", "search", query="Ferro Labs products", limit=1),
    step("funding", "listed_funding", company="Ferro Labs"),
]
BY_NEWS = [*raised("daily", "Daily"), *raised("gazette", "Gazette")]
BY_LINE = [
    step("lines", "search", query="Ferro Labs by line", limit=1),
    step("anvil", "find", text="${steps.lines[0].text}", pattern=r"Anvil was funded with (\d+)"),
    step("forge", "find", text="${steps.lines[0].text}", pattern=r"Forge with (\d+)"),
    step("total", "calculator", expression="${steps.anvil} + ${steps.forge}",
         more={"measures": {"funding in million": "output"}}),
]  # fmt: skip
VERSIONS = [plan(*FIRST), plan(*BY_NEWS), plan(*BY_LINE)]
REPLIES: dict[str, list[Reply]] = {
    "plan_and_execute": [*VERSIONS, says(ANSWER)],
    "self_reflection": [
        *VERSIONS, reflection("go by the news", "tool"), reflection("add up its lines", "step"), says(ANSWER), grade(),
    ],
    "plan_act_reflect": [
        *VERSIONS, look("revise", "go by the news", "tool"), look("revise", "add up its lines", "step"),
        says(ANSWER),
    ],
}  # fmt: skip


@pytest.mark.parametrize("pattern", REPLIES)
def test_three_versions_lead_to_the_corrected_figure(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*REPLIES[pattern])
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert (report["stop"]["reason"], report["answer"]) == ("done", ANSWER)
    first, second, third = report["plans"]
    assert first["change"]["kept"] == [] and "products" in second["change"]["kept"]
    assert "private company" in second["reason"]
    assert third["reason"] == "evidence in conflict: funding in million: 100 (daily), 130 (gazette)"
    assert results(report)["total"]["output"] == 130
    stands = "funding in million: 100 (daily), 130 (gazette, total); 130 stands"
    assert f"evidence in conflict: {stands}" in report["risks"]
    told = next(body["messages"][1]["content"] for body in model_server.requests if says("").fits(body))
    assert f"corrected: {stands}" in told


def measured(*steps: dict[str, Any]) -> list[Reply]:
    """The turns of these steps, which say what they measure as the plans do."""
    asked = in_turns(*steps)
    return [
        Reply({**said.content, "measures": one["measures"]}, schema="turn", when="Role: reasoner")
        if "measures" in one else said
        for one, said in zip(steps, asked, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", TURNING)
def test_turns_go_on_from_the_register_to_the_news_and_to_the_product_lines(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*measured(*FIRST, *BY_NEWS, *BY_LINE), *after_planning(pattern, ANSWER))
    report = load(pattern, context=context | {"limits": {"iterations": 12}}).invoke({"task": TASK})["report"]
    assert (report["stop"]["reason"], report["answer"]) == ("done", ANSWER)
    assert results(report)["t2"]["failure"]["cls"] == "not_found" and results(report)["t10"]["output"] == 130
    disputed = "evidence in conflict: funding in million: 100 (t4), 130 (t6)"
    assert disputed in model_server.requests[6]["messages"][-1]["content"]
    assert "evidence in conflict: funding in million: 100 (t4), 130 (t6, t10); 130 stands" in report["risks"]


@pytest.mark.parametrize("pattern", TURNING)
def test_an_answer_between_two_sources_that_disagree_is_no_success(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*measured(*BY_NEWS), turn(answer="It has raised 130 million."))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["kind"] != "success"
    assert "100 (t2), 130 (t4)" in report["stop"]["message"]


@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_that_finds_no_register_says_what_is_missing_and_makes_no_figure_up(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*in_turns(*FIRST), *gives_up(pattern, "Its funding is not known.", not_found=True))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "cannot_be_done" and "130" not in report["answer"]
    assert any("private company" in line for line in report["missing"])


@pytest.mark.parametrize("pattern", ["self_reflection", "plan_act_reflect"])
def test_each_reflection_names_what_it_started_from(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*REPLIES[pattern])
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    causes = [said["cause"] for said in report["reflections"] if said["verdict"] == "revise"]
    assert causes == ["acceptance failed", "evidence against an assumption"]


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_without_another_version_it_says_what_is_missing(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(plan(*FIRST))
    if pattern == "rewoo":
        model_server.reply(says("Its funding is not known."))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "steps_failed" and statuses(report)["products"] == "done"
    assert "private company" in report["stop"]["message"] and "130" not in report["answer"]


@pytest.mark.parametrize("pattern", REPLIES)
def test_two_sources_that_disagree_are_no_success(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(plan(*BY_NEWS))
    limits = {"replans": 0, "attempts": 1}
    report = load(pattern, context=context | {"limits": limits, "answerer": "offline"}).invoke({"task": TASK})["report"]
    assert report["stop"]["kind"] in ("pause", "budget")
    assert "100 (daily), 130 (gazette)" in report["stop"]["message"]
