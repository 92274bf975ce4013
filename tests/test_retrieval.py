import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import load
from state.errors import InputError
from tests.support.runs import PATTERNS, TURNING, after_planning, impossible, plan, says, statuses, step, turn
from tests.support.script import Reply
from tests.support.scripted_model import ScriptedModel
from tools.retrieval import Ranking, fitting, words
from tools.tool import Tool, read

BFCL = Path(os.environ.get("FORETHOUGHT_DATA", "nowhere")) / "bfcl"


def described(name: str, description: str, schema: dict[str, Any] | None = None) -> Tool:
    async def run(args: dict[str, Any], env: Any) -> Any:
        return f"{name}: done"

    return Tool(name, description, schema or {"type": "object", "properties": {}}, run)


def crowd(count: int) -> dict[str, Tool]:
    return {f"gadget_{n}": described(f"gadget_{n}", f"Adjusts dial number {n} of the machine.") for n in range(count)}


TOOLS = crowd(60) | {
    "getStockPrice": described("getStockPrice", "Gives what a share costs."),
    "translate_text": described("translate_text", "Puts text into another language."),
    "天气": described("天气", "查询城市的天气预报。"),
    "lamp": described("lamp", "Sets it.", {"type": "object", "properties": {"mood": {"enum": ["sunset", "reading"]}}}),
}


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("What is the stock price of Acme?", "getStockPrice"),
        ("translating this text", "translate_text"),
        ("明天北京的天气怎么样？", "天气"),
        ("make it a sunset", "lamp"),
        ("adjust dial 37", "gadget_37"),
    ],
)
def test_a_tool_is_found_by_name_description_and_choices(task: str, name: str) -> None:
    assert fitting(TOOLS, [task], 5)[0] == name


def test_each_sentence_of_a_task_gets_its_tool() -> None:
    task = "Adjust dial 1 of the machine. Adjust dial 2 of the machine. What does a share of Acme cost? Thanks."
    assert {"gadget_1", "gadget_2", "getStockPrice"} <= set(fitting(TOOLS, [task], 8))


def test_where_nothing_fits_the_first_tools_stand_in() -> None:
    assert fitting(TOOLS, ["???"], 3) == list(TOOLS)[:3]
    assert fitting(TOOLS, [""], 0) == []


@given(st.lists(st.text()), st.integers(0, 70))
def test_any_text_gives_as_many_names_as_asked_for_and_none_twice(texts: list[str], most: int) -> None:
    found = fitting(TOOLS, texts, most)
    assert len(found) == len(set(found)) == min(most, len(TOOLS))
    assert set(found) <= set(TOOLS)


def test_names_are_read_as_words() -> None:
    assert words("getStockPrice_by-ticker.v2").split() == ["get", "Stock", "Price", "by", "ticker", "v2"]


# ---- what a planner is told


def context(model: ScriptedModel, **more: Any) -> dict[str, Any]:
    return {"model": model, "tools": list(TOOLS.values()), **more}


def told(model: ScriptedModel, request: int = 0) -> list[str]:
    text = model.requests[request]["messages"][0]["content"]
    listed = json.loads(text.split("<tools>\n", 1)[1].split("\n</tools>", 1)[0])
    return [tool["name"] for tool in listed]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_of_many_tools_the_planner_is_told_the_few_that_fit(
    pattern: str, scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(plan(step("E1", "getStockPrice")), *after_planning(pattern, "done"))
    report = load(pattern, context=context(scripted_model)).invoke({"task": "the stock price of Acme"})["report"]
    assert report["stop"]["reason"] == "done"
    assert len(told(scripted_model)) == 20 and "getStockPrice" in told(scripted_model)
    assert "there are 44 more" in scripted_model.requests[0]["messages"][-1]["content"]


@pytest.mark.parametrize(("retrieve", "count"), [(0, 64), (5, 5), (64, 64), (100, 64)])
def test_how_many_is_a_setting(scripted_model: ScriptedModel, home: Path, retrieve: int, count: int) -> None:
    scripted_model.reply(plan(step("s1", "getStockPrice")))
    settings = context(scripted_model, retrieve=retrieve)
    load("one_shot", context=settings).invoke({"task": "the stock price of Acme"})
    assert len(told(scripted_model)) == count
    assert ("more. If one is missing" in scripted_model.requests[0]["messages"][-1]["content"]) == (count < 64)


def test_up_to_forty_tools_are_all_told(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("s1", "gadget_1")))
    settings = {"model": scripted_model, "tools": list(crowd(40).values())}
    load("one_shot", context=settings).invoke({"task": "dial 1"})
    assert len(told(scripted_model)) == 40


def test_a_tool_that_was_not_told_may_be_used_by_name(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("s1", "gadget_59")))
    report = load("one_shot", context=context(scripted_model)).invoke({"task": "the stock price"})["report"]
    assert report["answer"] == "gadget_59: done"


def test_an_unknown_name_brings_those_that_come_near(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("s1", "translate_txt")), plan(step("s1", "translate_text")))
    settings = context(scripted_model, retrieve=3)
    report = load("one_shot", context=settings).invoke({"task": "adjust dial 5"})["report"]
    assert report["stop"]["reason"] == "done"
    assert "translate_text" not in told(scripted_model, 0)
    assert "translate_text" in told(scripted_model, 1)


def test_a_planner_that_misses_a_tool_is_told_what_fits_its_words(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(
        impossible("I need something that puts a text into another language"), plan(step("s1", "translate_text"))
    )
    settings = context(scripted_model, retrieve=3)
    report = load("one_shot", context=settings).invoke({"task": "adjust dial 5"})["report"]
    assert report["answer"] == "translate_text: done"
    assert "translate_text" in told(scripted_model, 1)


def test_a_planner_that_sees_no_way_twice_is_believed(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(impossible("no tool flies"), impossible("no tool flies"))
    report = load("one_shot", context=context(scripted_model)).invoke({"task": "fly"})["report"]
    assert report["stop"]["reason"] == "cannot_be_done" and report["stop"]["message"] == "no tool flies"


def test_a_replanner_is_told_the_tools_of_the_last_plan_too(scripted_model: ScriptedModel, home: Path) -> None:
    def zither() -> str:
        """Hums."""
        raise RuntimeError("no strings")

    scripted_model.reply(plan(step("s1", "zither")), plan(step("s2", "getStockPrice")), says("done"))
    tools = [*TOOLS.values(), read(zither)]
    settings = {"model": scripted_model, "tools": tools, "retrieve": 3, "limits": {"retries": 0}}
    load("plan_and_execute", context=settings).invoke({"task": "the stock price"})
    assert "zither" not in told(scripted_model, 0) and "zither" in told(scripted_model, 1)


@pytest.mark.parametrize("pattern", TURNING)
def test_turns_are_told_the_same_few_tools_from_the_first_to_the_last(
    pattern: str, scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(turn("", "getStockPrice"), turn("", "gadget_59"), *after_planning(pattern, "done"))
    report = load(pattern, context=context(scripted_model)).invoke({"task": "the stock price of Acme"})["report"]
    assert report["stop"]["reason"] == "done"
    assert len(told(scripted_model)) == 20 and "getStockPrice" in told(scripted_model)
    prompts = [request["messages"] for request in scripted_model.requests[:3]]
    assert "there are 44 more" in prompts[0][1]["content"]
    assert all(prompt[:2] == prompts[0][:2] for prompt in prompts)
    assert "gadget_59" in prompts[2][-1]["content"] and "gadget_59" not in told(scripted_model)


@pytest.mark.parametrize("pattern", TURNING)
@pytest.mark.parametrize(
    "misses",
    [turn("", "translate_txt"), turn(impossible="I need something that puts a text into another language")],
    ids=["an unknown name", "no way"],
)
def test_a_turn_that_misses_a_tool_is_told_what_fits_its_words(
    pattern: str, misses: Reply, scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(misses, turn("", "translate_text"), *after_planning(pattern, "done"))
    settings = context(scripted_model, retrieve=3)
    report = load(pattern, context=settings).invoke({"task": "adjust dial 5"})["report"]
    assert (report["stop"]["reason"], statuses(report)) == ("done", {"t1": "done"})
    assert len(told(scripted_model, 1)) == 3 and "translate_text" not in told(scripted_model, 1)
    assert "translate_text" in scripted_model.requests[1]["messages"][-1]["content"].split("<more_tools>")[1]


def test_a_turn_that_sees_no_way_twice_is_believed(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(turn(impossible="no tool flies"), turn(impossible="no tool flies"))
    report = load("react", context=context(scripted_model)).invoke({"task": "fly"})["report"]
    assert report["stop"]["reason"] == "cannot_be_done" and report["stop"]["message"] == "no tool flies"


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(InputError, match="retrieve"):
        load("one_shot", context={"retrieve": -1})


# ---- measured on the functions and requests of BFCL


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (BFCL / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def bfcl() -> tuple[dict[str, Tool], list[tuple[str, str, set[str]]]]:
    """Every function of the set as a tool, and (file, request, the functions it needs)."""
    tools: dict[str, Tool] = {}
    tasks: list[tuple[str, str, set[str]]] = []
    for kind in ("multiple", "parallel", "parallel_multiple"):
        gold = {
            row["id"]: {name for call in row["ground_truth"] for name in call} for row in lines(f"{kind}_answer.jsonl")
        }
        for row in lines(f"{kind}.jsonl"):
            for one in row["function"]:
                tools.setdefault(one["name"], described(one["name"], one["description"], one["parameters"]))
            tasks.append(
                (kind, " ".join(said["content"] for turn in row["question"] for said in turn), gold[row["id"]])
            )
    for path in sorted((BFCL / "func_doc").glob("*.json")):
        for one in lines(f"func_doc/{path.name}"):
            tools.setdefault(one["name"], described(one["name"], one["description"], one["parameters"]))
    return tools, tasks


def share(tools: dict[str, Tool], tasks: list[tuple[str, str, set[str]]], most: int, *kinds: str) -> float:
    """Of the requests that these tools can serve, the share whose functions are all among the first."""
    served = [(text, names) for kind, text, names in tasks if kind in kinds and names <= tools.keys()]
    assert len(served) > 50
    with closing(Ranking(tools)) as ranking:
        return sum(names <= set(ranking.best([text], most)) for text, names in served) / len(served)


@pytest.mark.slow
@pytest.mark.skipif(not BFCL.exists(), reason="needs the data of FORETHOUGHT_DATA")
def test_of_500_functions_of_bfcl_the_right_one_is_among_the_first_ten() -> None:
    tools, tasks = bfcl()
    fewer = dict(list(tools.items())[:500])
    found = {
        "500 tools, one function": share(fewer, tasks, 10, "multiple", "parallel"),
        "800 tools, one function": share(tools, tasks, 10, "multiple", "parallel"),
        "800 tools, several functions, of 20": share(tools, tasks, 20, "parallel_multiple"),
    }
    print(found, len(tools), len(tasks))
    assert len(fewer) == 500
    assert found["500 tools, one function"] >= 0.97
    assert found["800 tools, one function"] >= 0.95
    assert found["800 tools, several functions, of 20"] >= 0.9
