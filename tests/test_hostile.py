"""Hostile inputs: conditions, schemas, constraints, values. Each is refused in one line, or does no harm."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.types import Command

import graphs
from nodes.drafting import new_steps
from nodes.plan_check import MOST, check_plan
from state.conditions import accept, unparsable
from state.errors import InputError, ToolFailed
from state.plain import plain
from state.plan import PlanDraft
from state.schemas import schema_fault
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import Catalogue
from tools.tool import Tool, read, write

SLOW_OR_LARGE = [
    "output**3999999", "3999999**399999 > 0", "round(5, -4000000)", "10**4000000 % 7 == 1", "'%0999999999d' % 5",
    "'a'.zfill(1999999999)", "'a'.ljust(1999999999)", "'\\t'.expandtabs(1999999999)", 'f"{1:999999999}"',
    "'a'.replace('', 'b' * 99999)", "1 + " * 40_000 + "1",
]  # fmt: skip
BROKEN = [
    {"type": "strng"}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$ref": "http://127.0.0.1:9/x"}, {"enum": 5},
    {"properties": {"a": {"$ref": "#/nowhere"}}}, {"properties": {"a": {"type": "string", "pattern": "("}}},
    {"properties": 5}, {"required": "a"},
]  # fmt: skip


def look(x: str = "") -> str:
    """Looks."""
    return f"seen {x}"


def pay(amount: int) -> int:
    """Pays."""
    raise AssertionError("paid")


@pytest.mark.parametrize("condition", SLOW_OR_LARGE, ids=lambda text: text[:30])
def test_a_condition_that_would_take_long_or_much_memory_is_undecided_at_once(condition: str) -> None:
    began = time.monotonic()
    assert accept(condition, 3999999)["outcome"] == "unverified"
    assert time.monotonic() - began < 0.5


def test_a_method_that_is_not_allowed_is_a_finding_before_the_plan_runs() -> None:
    assert "zfill is not allowed" in unparsable("'a'.zfill(9) > 0")
    assert not unparsable("output.name.lower().startswith('a') and output.get('rows')")


def test_an_output_can_not_redefine_what_true_means() -> None:
    assert accept("ok == true", {"ok": False, "true": False, "null": 1})["outcome"] == "failed"


@pytest.mark.parametrize("schema", BROKEN, ids=str)
async def test_a_schema_that_can_not_be_used_is_refused_before_anything_runs(
    scripted_model: ScriptedModel, home: Path, schema: dict[str, Any]
) -> None:
    assert schema_fault(schema)
    graph = graphs.load("one_shot")
    with pytest.raises(InputError, match="answer_schema"):
        await graph.ainvoke({"task": "x"}, context={"model": scripted_model, "answer_schema": schema})
    for more in ({"args_schema": schema}, {"args_schema": {}, "output_schema": schema}):
        tool = Tool(name="look", description="Looks.", run=read(look).run, **more)
        with pytest.raises(InputError, match="tool 'look'"):
            await graph.ainvoke({"task": "x"}, context={"model": scripted_model, "tools": [tool]})


@pytest.mark.parametrize("schema", [{}, {"type": "object", "properties": {"$ref": {"type": "string"}}},
    {"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
    {"$id": "urn:a", "$defs": {"n": {"$id": "urn:n", "type": "string"}}, "$ref": "urn:n"}], ids=str)  # fmt: skip
def test_a_schema_that_can_be_used_is_taken(schema: dict[str, Any]) -> None:
    assert schema_fault(schema) == ""


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"read_only": "yes"}, "true or false"), ({"read_only": 1}, "true or false"),
        ({"READ-ONLY": True}, "did you mean"),
        ({"readonly": True}, "did you mean 'read_only'"), ({"forbidden": ["pay"]}, "did you mean 'forbid'"),
        ({"forbid": 5}, "right would be"), ({"forbid": [["pay"]]}, "right would be"),
        ({"forbid": "payy"}, "did you mean pay"),
        ({"words": 5}, "right would be"), ({"forbid": None}, "right would be"),
    ], ids=str,
)  # fmt: skip
async def test_a_constraint_that_would_not_be_enforced_is_refused(
    scripted_model: ScriptedModel, home: Path, constraints: dict[str, Any], said: str
) -> None:
    context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow"}
    with pytest.raises(InputError, match=said):
        await graphs.load("one_shot").ainvoke({"task": "pay", "constraints": constraints}, context=context)


@pytest.mark.parametrize("setting", ["deny", "allow"])
async def test_a_denied_or_allowed_tool_with_a_slip_in_its_name_is_refused(
    scripted_model: ScriptedModel, home: Path, setting: str
) -> None:
    context = {"model": scripted_model, "tools": [write(pay)], setting: ["payy"]}
    with pytest.raises(InputError, match="did you mean pay"):
        await graphs.load("one_shot").ainvoke({"task": "pay"}, context=context)


def recursive() -> Any:
    inside: list[Any] = []
    inside.append(inside)
    return inside


async def test_inputs_and_constraints_that_no_json_can_hold_are_refused(
    scripted_model: ScriptedModel, home: Path
) -> None:
    for given in ({"inputs": {"a": recursive()}}, {"constraints": {"a": recursive()}}):
        with pytest.raises(InputError):
            await graphs.load("one_shot").ainvoke({"task": "x", **given}, context={"model": scripted_model})


async def test_a_sentence_is_one_constraint_also_under_its_key(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("a", "look")))
    given = {"task": "x", "constraints": {"words": "be kind"}}
    out = await graphs.load("one_shot").ainvoke(given, context={"model": scripted_model, "tools": [read(look)]})
    assert out["report"]["plans"][0]["constraints"] == ["be kind"]


def test_anything_a_tool_gives_becomes_plain() -> None:
    def endless() -> Iterator[int]:
        yield from itertools.count()

    assert plain({"a\udcff": ["b\udcff"], 1: {2}, None: (1, b"x")}) == {"a?": ["b?"], "1": [2], "None": [1, "eA=="]}
    assert plain(endless())[-1] == "and more than these 100000 items"
    assert plain(n for n in range(3)) == [0, 1, 2]
    assert "can't be shown" in plain(recursive())


@pytest.mark.parametrize("wrong", [{"tool": "nope"}, {"args": {"x": "${steps.gone}"}}, {"when": "1 +"}], ids=str)
def test_a_plan_with_thousands_of_faults_is_told_of_the_first_in_few_words(wrong: dict[str, Any]) -> None:
    draft = PlanDraft.model_validate(plan(*({**step(f"s{n}", "look"), **wrong} for n in range(2000))))
    tools = Catalogue([read(look)])
    found = check_plan(new_steps(draft, 1, {}, tools), tools)
    assert len(found) == MOST
    assert sum(len(one["message"]) for one in found) < 40_000


async def test_a_plan_of_ten_thousand_steps_is_refused_by_its_length_alone(
    scripted_model: ScriptedModel, home: Path
) -> None:
    long = plan(*(step(f"s{n}", "look", {"x": f"${{steps.gone{n}}}"}) for n in range(10_000)))
    scripted_model.reply(long, long)
    context = {"model": scripted_model, "tools": [read(look)], "limits": {"plan_feedback": 1}}
    report = (await graphs.load("one_shot").ainvoke({"task": "x"}, context=context))["report"]
    assert report["stop"]["reason"] == "steps"
    assert sum(len(str(request["messages"])) for request in scripted_model.requests) < 20_000


async def test_a_nul_reaches_no_checkpoint_whoever_says_it(scripted_model: ScriptedModel, home: Path) -> None:
    def pay(to: str) -> str:
        """Pays."""
        return f"receipt\0 for {to}"

    def fails() -> str:
        """Fails."""
        raise ToolFailed("no\0thing")

    with_nul, without = (plan(step("p", "pay", {"to": to}), step("f", "fails")) for to in ("a\0b", "a"))
    scripted_model.reply(with_nul, without)
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(pay), read(fails)]}
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "x"}, thread, context=context)
    edit = {"type": "edit", "args": {"to": "c\0d"}}
    answers = Command(resume={one.id: {"decisions": [edit]} for one in out["__interrupt__"]})
    await graph.ainvoke(answers, thread, context=context)
    kept = [snapshot.values async for snapshot in graph.aget_state_history(thread)]
    assert kept and "\\x00" not in repr(kept).replace("\\\\x00", "")  # as the finding spells it
    assert "'a\\x00b' holds a NUL" in next(
        one["reason"] for one in kept[0]["events"] if one["event"] == "reply_rejected"
    )


@pytest.mark.slow
async def test_a_nul_loses_no_run_on_postgresql(scripted_model: ScriptedModel, home: Path, postgres: Any) -> None:
    paid: list[str] = []

    def pay(to: str) -> str:
        """Pays."""
        paid.append(to)
        return "receipt\0 1"

    url = postgres.new_database()
    scripted_model.reply(plan(step("p", "pay", {"to": "x"})))
    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
        context = {"model": scripted_model, "tools": [write(pay)], "writes": "allow", "database": url}
        graph = graphs.load("one_shot", checkpointer=saver, context=context)
        out = await graph.ainvoke({"task": "x"}, {"configurable": {"thread_id": "t"}})
    assert (out["report"]["stop"]["reason"], paid) == ("done", ["x"])


async def test_a_key_that_a_tool_says_in_its_failure_is_not_kept(
    scripted_model: ScriptedModel, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "very-secret-value")

    def fails() -> str:
        """Fails."""
        raise ToolFailed("refused: very-secret-value is no key; see http://me:pass-word@shop.example")

    scripted_model.reply(plan(step("f", "fails")))
    out = await graphs.load("one_shot").ainvoke(
        {"task": "x"}, context={"model": scripted_model, "tools": [read(fails)]}
    )
    assert "very-secret-value" not in repr(out) and "pass-word" not in repr(out)
    assert "refused: *** is no key" in out["report"]["results"][0]["failure"]["message"]
