"""Stop conditions of the user's own: texts, functions, `|` and `&`, kinds, what a resume needs."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from nodes.composition import all_of, any_of, ended, when
from nodes.look import Look
from state.context import Context, make_context
from state.errors import InputError
from state.stop import StopReason, exit_code, stop
from state.stop_when import NAMES, checked, kind_and_expression
from tests.support.plans import PLANNING, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


def work(name: str) -> str:
    """Works."""
    return name


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def three_steps() -> dict[str, Any]:
    return plan(*(step(f"s{n}", "work", {"name": str(n)}, after=[f"s{n - 1}"] if n else []) for n in range(3)))


async def report_of(model: ScriptedModel, pattern: str = "plan_and_execute", **context: Any) -> Any:
    settings = {"model": model, "tools": [read(work)], "check_after": "step", **context}
    return (await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings))["report"]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_condition_is_asked_between_steps_in_every_pattern(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    scripted_model.reply(three_steps())
    if pattern != "one_shot":
        scripted_model.reply("one is enough")
    report = await report_of(scripted_model, pattern, stop_when="done >= 1 and iterations >= 1")
    assert report["stop"] == {
        "kind": "budget",
        "reason": "stop_condition",
        "message": "the condition done >= 1 and iterations >= 1 holds: done = 1, iterations = 1",
        "evidence": ["done = 1", "iterations = 1"],
    }
    assert [result["step"] for result in report["results"]] == ["s0"]
    assert report["answer"]


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_condition_that_never_holds_changes_nothing(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    scripted_model.reply(three_steps(), *replies_after_plan(pattern))
    report = await report_of(scripted_model, pattern, stop_when=["tokens > 1000000", lambda look: None])
    assert report["stop"]["reason"] == "done"


@pytest.mark.parametrize(("kind", "code"), [("success", 0), ("failure", 21), ("budget", 42), ("pause", 54)])
async def test_the_user_says_of_which_kind_the_end_is(
    scripted_model: ScriptedModel, home: Path, kind: Any, code: int
) -> None:
    for condition in (f"{kind}: done >= 1", when("done >= 1", kind), when(lambda look: look.left == 2, kind)):
        scripted_model.reply(three_steps())
        report = await report_of(scripted_model, "one_shot", stop_when=condition)
        assert (report["stop"]["kind"], report["stop"]["reason"]) == (kind, "stop_condition")
        assert exit_code(report["stop"]) == code


async def test_what_failed_may_pause_the_run_instead_of_ending_it_as_failed(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def fail(name: str) -> str:
        """Fails."""
        raise LookupError("gone")

    scripted_model.reply(plan(step("a", "fail", {"name": "x"})))
    report = await report_of(scripted_model, "one_shot", tools=[read(fail)], stop_when="pause: failures >= 1")
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "stop_condition")


async def test_an_end_of_the_pattern_itself_goes_before_a_condition(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("a", "work", {"name": "x"})))
    assert (await report_of(scripted_model, "one_shot", stop_when="iterations >= 1"))["stop"]["reason"] == "done"
    scripted_model.reply(three_steps(), "what there is")
    report = await report_of(scripted_model, limits={"iterations": 2}, stop_when="iterations >= 2")
    assert report["stop"]["reason"] == "iterations"


def enough(look: Look) -> Any:
    """Two results are enough."""
    return (
        ended("two results are there", *[result["step"] for result in look.having("done")], kind="success")
        if (len(look.having("done")) >= 2)
        else None
    )


async def test_and_keeps_the_evidence_of_both(scripted_model: ScriptedModel, home: Path) -> None:
    for both in (when(enough) & "iterations >= 2", all_of(enough, "iterations >= 2")):
        scripted_model.reply(three_steps())
        report = await report_of(scripted_model, "one_shot", stop_when=both)
        assert report["stop"]["kind"] == "success"
        assert report["stop"]["message"] == "two results are there; the condition iterations >= 2 holds: iterations = 2"
        assert report["stop"]["evidence"] == ["s0", "s1", "iterations = 2"]


async def test_or_takes_the_first_that_holds(scripted_model: ScriptedModel, home: Path) -> None:
    for either in (enough | when("tokens < 0"), "tokens < 0" | when(enough), any_of("tokens < 0", enough)):  # type: ignore[operator]
        scripted_model.reply(three_steps())
        report = await report_of(scripted_model, "one_shot", stop_when=either)
        assert report["stop"]["message"] == "two results are there"


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (True, "budget", "the condition mine holds"),
        ("that will do", "budget", "that will do"),
        (stop(StopReason.DONE, "done by my count", ["s0"]), "success", "done by my count"),
        (7, "failure", "the stop condition mine could not be decided: it gave 7"),
        ({}, "failure", "could not be decided"),
        ({"kind": "sideways", "message": "x"}, "failure", "could not be decided"),
        ({"kind": "pause", "message": 3}, "failure", "could not be decided"),
        ("  ", "failure", "could not be decided"),
    ],
)
async def test_whatever_a_condition_gives_is_a_named_end(
    scripted_model: ScriptedModel, home: Path, given: Any, kind: str, message: str
) -> None:
    def mine(look: Look) -> Any:
        return given

    scripted_model.reply(three_steps())
    report = await report_of(scripted_model, "one_shot", stop_when=mine)
    assert (report["stop"]["reason"], report["stop"]["kind"]) == ("stop_condition", kind)
    assert message in report["stop"]["message"]
    json.dumps(report)


class Nasty(dict[str, Any]):
    """Looks like a stop and is none."""

    def get(self, *args: Any) -> Any:
        """Fails."""
        raise RuntimeError("not me")

    def __repr__(self) -> str:
        raise RuntimeError("nor me")


@pytest.mark.parametrize(
    ("given", "kind"),
    [(Nasty(), "failure"), ([Nasty()], "failure"), ({"kind": "pause", "message": "x", "evidence": [Nasty()]}, "pause")],
)
async def test_an_object_that_can_not_even_be_looked_at_is_a_named_end(
    scripted_model: ScriptedModel, home: Path, given: Any, kind: str
) -> None:
    scripted_model.reply(three_steps())
    report = await report_of(scripted_model, "one_shot", stop_when=lambda look: given)
    assert (report["stop"]["reason"], report["stop"]["kind"]) == ("stop_condition", kind)
    json.dumps(report)


@pytest.mark.parametrize(
    "raised",
    [ValueError("no"), KeyError("x"), SystemExit(3), RecursionError(), GeneratorExit(), asyncio.CancelledError()],
)
async def test_a_condition_that_raises_ends_the_run_in_a_report(
    scripted_model: ScriptedModel, home: Path, raised: BaseException
) -> None:
    def broken(look: Look) -> bool:
        raise raised

    scripted_model.reply(three_steps())
    report = await report_of(scripted_model, "one_shot", stop_when=when(broken) | "tokens < 0")
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("failure", "stop_condition")
    assert type(raised).__name__ in report["stop"]["message"]
    assert "broken" in report["stop"]["message"]


async def test_a_coroutine_is_no_answer(scripted_model: ScriptedModel, home: Path) -> None:
    async def later(look: Look) -> bool:
        return True

    with pytest.raises(InputError, match="plain function"):
        make_context(stop_when=later)
    scripted_model.reply(three_steps())
    report = await report_of(scripted_model, "one_shot", stop_when=lambda look: later(look))
    assert report["stop"]["kind"] == "failure"


async def test_a_score_that_is_not_there_yet_is_neither_above_nor_below(
    scripted_model: ScriptedModel, home: Path
) -> None:
    scripted_model.reply(three_steps(), *replies_after_plan("self_reflection"))
    report = await report_of(scripted_model, "self_reflection", stop_when=["score < 3", "score >= 0 and score < 9"])
    assert report["stop"]["reason"] == "done"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tokenz > 3", "tokenz"),
        ("tokens", "compares nothing"),
        ("1 > 0", "compares nothing"),
        ("tokens >", "can't be read"),
        ("later: tokens > 3", "there is no kind 'later'"),
        ("tokens > 'x'", "could not be evaluated"),
        ("__import__('os') > tokens", "__import__"),
        ("open('x') > tokens", "open"),
        ("", "can't be read"),
        ("[[[0] * 9999] * 9999] * 9999 == [tokens]", "* is for numbers"),
    ],
)
def test_a_text_that_can_not_be_meant_is_refused_before_anything_runs(text: str, says: str) -> None:
    with pytest.raises(InputError, match="stop_when") as caught:
        make_context(stop_when=text)
    assert says in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_a_value_error(text: str) -> None:
    try:
        kind, expression = kind_and_expression(text)
    except ValueError:
        return
    assert checked(f"{kind}: {expression}")


def test_every_documented_name_is_a_number_of_the_look(home: Path) -> None:
    for name in NAMES:
        assert kind_and_expression(f"{name} > 1")[1] == f"{name} > 1"
    page = (Path(__file__).parent.parent / "docs" / "limits.md").read_text(encoding="utf-8")
    for name, meaning in NAMES.items():
        assert f"| `{name}` | {meaning} |" in page


def test_the_names_of_the_documentation_are_those_of_the_look() -> None:
    from types import SimpleNamespace

    meter: Any = SimpleNamespace(usage=lambda: dict.fromkeys(NAMES, 1), failures=0)
    run: Any = SimpleNamespace(meter=meter)
    assert set(Look({}, [], 0, None, None, {}, run, [], {}).numbers) == set(NAMES)


async def test_texts_stay_with_the_thread_and_a_resume_may_add_to_them(
    scripted_model: ScriptedModel, home: Path
) -> None:
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    for more, wanted in (({}, "done >= 1"), ({"stop_when": "left < 3"}, "done >= 1"), ({"stop_when": "left == 1"}, "")):
        scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("b", "work", {"name": "b"}, after=["a"])))
        settings = {"model": scripted_model, "tools": [write(pay), read(work)], "check_after": "step"}
        first = {"stop_when": "done >= 1"} if wanted else {}
        out = await graph.ainvoke({"task": "pay"}, THREAD, context={**settings, **first})
        answer = {one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]}
        out = await graph.ainvoke(Command(resume=answer), THREAD, context={**settings, **more})
        assert out["report"]["stop"]["reason"] == "stop_condition"
        assert (wanted or "left == 1") in out["report"]["stop"]["message"]


async def test_a_resume_without_the_object_says_so_and_may_be_tried_again(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def one_is_enough(look: Look) -> bool:
        return len(look.having("done")) >= 1

    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("b", "work", {"name": "b"}, after=["a"])))
    settings = {"model": scripted_model, "tools": [write(pay), read(work)], "check_after": "step"}
    out = await graph.ainvoke({"task": "pay"}, THREAD, context={**settings, "stop_when": one_is_enough})
    answer = {one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]}
    with pytest.raises(InputError, match="'one_is_enough', a Python object"):
        await graph.ainvoke(Command(resume=answer), THREAD, context=settings)
    out = await graph.ainvoke(Command(resume=answer), THREAD, context={**settings, "stop_when": [one_is_enough]})
    assert out["report"]["stop"]["message"] == "the condition one_is_enough holds"


def test_the_setting_is_plain_in_a_schema_and_takes_a_list() -> None:
    assert Context.model_json_schema()["properties"]["stop_when"]["type"] == ["string", "array", "null"]
    assert make_context(stop_when=["tokens > 1", enough]).model_dump(mode="json")["stop_when"] == [
        "tokens > 1",
        "@enough",
    ]
