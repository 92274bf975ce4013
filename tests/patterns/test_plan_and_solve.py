"""Plan-and-solve: a plan in words, each step solved by a model, the last one gives the answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from evals.tasks import data_folder, json_lines
from graphs import load
from nodes.prompts.fence import read_fences
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.protocol import Body, text_of
from tests.support.runs import THREAD, roles, statuses
from tests.support.script import Reply, failure

QUESTION = {"task": "What do 3 pens cost at 2 euro each with 10 percent tax?"}


def outline(*steps: str, **more: Any) -> Reply:
    return Reply({"goal": "the price", "steps": list(steps), **more}, schema="outline", when="Role: outliner")


def solved(text: str) -> Reply:
    return Reply(text, when="Role: executor")


def seen(body: Body) -> dict[str, Any]:
    """What the prompt of a step holds."""
    data: dict[str, Any] = read_fences("\n".join(map(text_of, body["messages"])))["data"]
    return data


async def run(task: dict[str, Any] = QUESTION, **context: Any) -> Any:
    return (await load("plan_and_solve").ainvoke(task, context=context))["report"]


async def test_a_plan_in_words_is_solved_step_by_step_and_the_last_step_answers(model_server: ModelServer) -> None:
    model_server.reply(outline("Multiply 3 by 2.", "Add 10 percent."), solved("6 euro"), solved("6.60 euro"))
    report = await run()
    assert (report["answer"], report["answered_by"], report["stop"]["reason"]) == ("6.60 euro", "code", "done")
    assert roles(model_server.requests) == ["outliner", "executor", "executor"]
    assert [step["tool"] for step in report["plans"][0]["steps"]] == ["solve", "solve"]
    assert report["usage"]["steps"].keys() == {"s1", "s2"}
    assert (report["usage"]["tool_calls"], report["usage"]["model_calls"]) == (2, 3)


async def test_a_step_sees_question_whole_plan_earlier_steps_and_itself(model_server: ModelServer) -> None:
    model_server.reply(outline("Multiply.", "Add tax."), solved("6"), solved("6.6"))
    await run({**QUESTION, "inputs": {"tax": 10}, "constraints": ["in euro"]})
    first, second = map(seen, model_server.requests[1:])
    known = {
        "question": QUESTION["task"], "constraints": {"words": ["in euro"]}, "inputs": {"tax": 10},
        "plan": {"s1": "Multiply.", "s2": "Add tax."},
    }  # fmt: skip
    assert first == {**known, "earlier": {}, "step": "Multiply."}
    assert second == {**known, "earlier": {"s1": "6"}, "step": "Add tax."}


async def test_what_a_step_sees_is_bounded_however_many_steps_and_words_came_before(model_server: ModelServer) -> None:
    def size(steps: int) -> list[int]:
        return [len(json.dumps(seen(body))) for body in model_server.requests[-steps:]]

    for steps in (30, 60):
        model_server.reply(outline(*[f"step {n} " + "x" * 300 for n in range(steps)]), *[solved("y" * 3000)] * steps)
        report = await run(limits={"steps": steps})
        assert report["stop"]["reason"] == "done"
        sizes = size(steps)
        assert max(sizes) < 12_000
    assert max(sizes[30:]) <= max(sizes[:30]) * 1.1


async def test_no_tool_of_the_run_is_offered_or_run(model_server: ModelServer) -> None:
    model_server.reply(outline("Think."), solved("6.60"))
    report = await run(tools=["calculator"], allow=["calculator"])
    assert report["answer"] == "6.60"
    assert "calculator" not in json.dumps(model_server.requests)


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute"])
async def test_solve_is_no_tool_of_any_other_pattern(model_server: ModelServer, pattern: str) -> None:
    draft = {"steps": [{"id": "s1", "tool": "solve", "args": {"step": "think"}}]}
    model_server.reply(*[Reply(draft, schema="plan")] * 3)
    report = (await load(pattern).ainvoke(QUESTION, context={"tools": ["calculator"]}))["report"]
    assert "there is no tool 'solve'" in report["stop"]["message"]
    with pytest.raises(InputError, match="no tool 'solve'"):
        await load(pattern).ainvoke(QUESTION, context={"tools": ["solve"]})


async def test_a_plan_without_steps_or_with_too_many_goes_back_and_ends_by_name(model_server: ModelServer) -> None:
    model_server.reply(outline(), outline(" "), outline())
    report = await run()
    assert report["stop"]["reason"] == "plan_empty"
    model_server.reply(*[outline("a", "b", "c")] * 3)
    report = await run(limits={"steps": 2})
    assert report["stop"]["reason"] == "steps"
    assert "at most 2 may run" in text_of(model_server.requests[-1]["messages"][1])


async def test_a_question_that_thinking_can_not_answer_is_given_up(model_server: ModelServer) -> None:
    model_server.reply(outline(impossible="it needs today's prices"))
    report = await run()
    assert (report["stop"]["reason"], report["stop"]["message"]) == ("cannot_be_done", "it needs today's prices")


async def test_what_only_a_person_knows_is_asked_and_becomes_an_input(model_server: ModelServer) -> None:
    graph = load("plan_and_solve", checkpointer=InMemorySaver())
    question = {"name": "tax", "question": "Which tax?", "type": "number"}
    model_server.reply(outline(questions=[question]))
    out = await graph.ainvoke(QUESTION, THREAD)
    [asked] = out["__interrupt__"]
    model_server.reply(outline("Think."), solved("6.60"))
    answer = {asked.id: {"decisions": [{"type": "respond", "message": "10"}]}}
    report = (await graph.ainvoke(Command(resume=answer), THREAD))["report"]
    assert (report["answer"], seen(model_server.requests[-1])["inputs"]) == ("6.60", {"tax": 10})


async def test_a_step_that_fails_holds_the_rest_and_the_report_says_what_is_missing(model_server: ModelServer) -> None:
    model_server.reply(outline("a", "b", "c"), solved("6"), failure(400, "no"))
    report = await run()
    assert statuses(report) == {"s1": "done", "s2": "failed", "s3": "blocked"}
    assert (report["stop"]["reason"], len(report["missing"])) == ("steps_failed", 2)
    assert report["answer"].startswith("No result.\n") and "\nOn the way to it:\n6\n" in report["answer"]


async def test_a_limit_of_calls_ends_it_with_what_is_there(model_server: ModelServer) -> None:
    model_server.reply(outline("a", "b", "c"), solved("6"), solved("7"))
    report = await run(limits={"model_calls": 3})
    assert (report["stop"]["reason"], statuses(report)["s2"]) == ("model_calls", "done")


async def test_a_dry_run_says_how_many_calls_the_plan_takes(model_server: ModelServer) -> None:
    model_server.reply(outline("a", "b"))
    report = await run(dry_run=True)
    assert (report["estimate"]["model_calls"], report["estimate"]["writes"]) == (2, [])


async def test_it_plans_and_solves_in_chinese(model_server: ModelServer) -> None:
    model_server.reply(outline("相乘。"), solved("6 元"))
    assert (await run({"task": "每支 2 元的笔买 3 支要多少钱？"}))["answer"] == "6 元"
    assert all("步骤" in json.dumps(body["messages"], ensure_ascii=False) for body in model_server.requests)


def test_without_a_model_it_says_so_and_makes_nothing_up(root: Path) -> None:
    report = load("plan_and_solve").invoke(QUESTION, context={"model": "offline"})["report"]
    assert report["stop"]["reason"] == "cannot_be_done"
    assert "can't think in words" in report["stop"]["message"]
    assert "No result." in report["answer"]


async def test_word_problems_of_gsm8k_come_out_right_where_each_step_is_right(model_server: ModelServer) -> None:
    try:
        rows = list(json_lines(data_folder() / "gsm8k" / "test_400.jsonl"))[:25]
    except InputError:
        pytest.skip("needs the public task sets: FORETHOUGHT_DATA names no folder")
    for row in rows:
        steps = row["steps"]
        model_server.reply(
            outline(*(f"Work out {step['expr']}." for step in steps)), *(solved(step["result"]) for step in steps)
        )
        report = await run({"task": row["question"]}, limits={"same_call": 20})
        assert (report["answer"], report["stop"]["reason"]) == (steps[-1]["result"], "done")
        assert report["usage"]["model_calls"] == len(steps) + 1
        earlier = [seen(body)["earlier"] for body in model_server.requests[-len(steps) :]]
        assert [list(one.values()) for one in earlier] == [
            [step["result"] for step in steps[:n]] for n in range(len(steps))
        ]
