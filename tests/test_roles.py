"""Roles: a model or several for each, how it samples, what it cost by role, step and version of the plan."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import graphs
from nodes.models import provider_of
from state.context import make_context
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.plans import plan, step
from tests.support.runs import grade, says
from tests.support.script import Reply, failure
from tests.support.scripted_model import ScriptedModel
from tools.tool import ToolEnv, read

SIMPLE = plan(step("a", "look", {"name": "x"}))


def look(name: str) -> str:
    """Looks something up."""
    return f"result of {name}"


@pytest.fixture
def server(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> ModelServer:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server


async def run(pattern: str = "one_shot", tools: Any = None, **context: Any) -> Any:
    context["tools"] = tools or [read(look)]
    return (await graphs.load(pattern).ainvoke({"task": "look"}, context=context))["report"]


DOWN = [failure(401, "no key"), failure(404, "the model does not exist"), failure(400, "broken"), *[failure(503)] * 3]


@pytest.mark.parametrize("models", [["first", "second"], "first, second", ("first", "second")])
async def test_the_next_model_of_a_role_is_asked_where_the_first_fails(server: ModelServer, models: Any) -> None:
    server.reply(failure(401, "no key"), SIMPLE, "the answer")
    report = await run("plan_and_execute", planner=models, model="other")
    assert report["stop"]["reason"] == "done"
    assert [body["model"] for body in server.requests] == ["first", "second", "other"]
    assert report["models"]["planner"] == "first, else second"


async def test_a_model_that_gives_nothing_usable_is_followed_by_the_next(server: ModelServer) -> None:
    server.reply("{", "{", "{", SIMPLE)
    assert (await run(model="first,second"))["stop"]["reason"] == "done"
    assert [body["model"] for body in server.requests] == ["first"] * 3 + ["second"]


async def test_where_all_models_fail_the_last_failure_is_the_reason(server: ModelServer) -> None:
    server.reply(failure(401, "no key"), failure(404, "the model does not exist"))
    report = await run(model="first,second")
    assert report["stop"]["reason"] == "model_failed" and "'second'" in report["stop"]["message"]


async def test_a_chain_may_end_in_an_object_or_in_the_offline_planner(server: ModelServer) -> None:
    spare = ScriptedModel()
    spare.reply(SIMPLE)
    server.reply(failure(401, "no key"), failure(401, "no key"))
    assert (await run(model=["scripted", spare]))["stop"]["reason"] == "done"
    report = (await graphs.load("one_shot").ainvoke({"task": "add 2 and 3"}, context={"model": "scripted, offline"}))[
        "report"
    ]
    assert report["answer"] in (5, "5")


async def test_a_cheap_planner_and_a_strong_checker_are_one_line(server: ModelServer) -> None:
    server.reply(SIMPLE, "the answer", grade())
    await run("self_reflection", model="cheap", checker="strong", sampling={"checker": {"temperature": 0}})
    assert [(body["model"], body.get("temperature")) for body in server.requests] == [
        ("cheap", None), ("cheap", None), ("strong", 0.0),
    ]  # fmt: skip


async def test_sampling_is_set_for_all_and_for_one_role(server: ModelServer) -> None:
    server.reply(SIMPLE, "the answer")
    sampling = {"all": {"seed": 7, "temperature": 0.5}, "answerer": {"temperature": 0, "max_tokens": 90}}
    await run("plan_and_execute", sampling=sampling)
    sent = [
        {key: body[key] for key in ("seed", "temperature", "max_tokens") if key in body} for body in server.requests
    ]
    assert sent == [{"seed": 7, "temperature": 0.5}, {"seed": 7, "temperature": 0.0, "max_tokens": 90}]


@pytest.mark.parametrize("wrong", [{"cook": {}}, {"planner": {"temperature": "hot"}}, {"planner": {"top": 1}}])
def test_a_wrong_sampling_is_one_line(wrong: Any) -> None:
    with pytest.raises(InputError, match="sampling"):
        make_context(sampling=wrong)


@pytest.mark.parametrize("wrong", [5, [], ["a", 5], {"a": 1}])
def test_what_is_no_model_is_one_line(wrong: Any) -> None:
    with pytest.raises(InputError, match="planner"):
        make_context(planner=wrong)


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("anthropic:claude-x", "anthropic"),
        ("qwen2.5:7b", None),
        ("ollama:qwen2.5:7b", "ollama"),
        ("gpt-x", None),
        (":x", None),
    ],
)
def test_a_maker_is_told_from_a_name_with_a_colon(name: str, maker: str | None) -> None:
    assert provider_of(name) == maker


async def test_a_maker_without_langchain_is_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.models.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs the extra providers"):
        await run(model="anthropic:claude-x")


async def test_a_maker_is_asked_through_langchain(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, made = ScriptedModel(), []
    model.reply(SIMPLE)
    module: Any = ModuleType("langchain.chat_models")
    module.init_chat_model = lambda name: made.append(name) or model
    monkeypatch.setattr("nodes.models.find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "langchain", ModuleType("langchain"))
    monkeypatch.setitem(sys.modules, "langchain.chat_models", module)
    assert (await run(model="anthropic:claude-x"))["stop"]["reason"] == "done"
    assert made == ["anthropic:claude-x"]


async def test_a_maker_that_can_not_be_made_is_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("langchain.chat_models")

    def broken(name: str) -> None:
        raise ImportError("pip install langchain-anthropic")

    module.init_chat_model = broken
    monkeypatch.setattr("nodes.models.find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "langchain", ModuleType("langchain"))
    monkeypatch.setitem(sys.modules, "langchain.chat_models", module)
    with pytest.raises(InputError, match="langchain-anthropic"):
        await run(model="anthropic:claude-x")


async def summarise(text: str, env: ToolEnv) -> str:
    """Makes a text short."""
    return await env.ask("Make it short.", text)


async def test_usage_is_told_apart_by_role_step_and_version_of_the_plan(server: ModelServer) -> None:
    def broken(name: str) -> str:
        """Fails."""
        raise ValueError("no")

    first = plan(step("a", "summarise", {"text": "long"}), step("b", "broken", {"name": "x"}))
    second = plan(step("c", "summarise", {"text": "${steps.a}"}))
    server.reply(
        Reply(first, usage=(100, 10)), Reply("short", usage=(20, 2)), Reply(second, usage=(200, 20)),
        Reply("shorter", usage=None), says("the answer"),
    )  # fmt: skip
    prices = {"scripted": {"tokens_in": 1_000_000, "tokens_out": 0}}
    report = await run("plan_and_execute", [read(summarise), read(broken)], prices=prices)
    used = json.loads(json.dumps(report["usage"]))
    assert (used["steps"]["a"]["tokens_in"], used["steps"]["a"]["money"]) == (20, 20)
    assert used["steps"]["c"] == {
        "calls": 1,
        **dict.fromkeys(("tokens_in", "tokens_out", "cached", "reasoning", "money")),
    }
    assert (used["plans"]["1"]["calls"], used["plans"]["1"]["tokens_in"]) == (2, 120)
    assert (used["plans"]["2"]["calls"], used["plans"]["2"]["tokens_in"]) == (3, None)
    assert used["roles"]["planner"]["tokens_in"] == 300 and used["roles"]["executor"]["tokens_in"] is None
    assert used["unknown_tokens"] == 1
