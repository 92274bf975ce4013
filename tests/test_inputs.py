"""Inputs: values by name, files by path, kept results by handle (A16)."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from nodes.prompts.fence import read_fences
from state.context import Context
from state.errors import InputError
from state.limits import Limits
from tests.support.plans import by_step, plan, step
from tests.support.runs import THREAD
from tests.support.scripted_model import ScriptedModel
from tools.artefacts import keep
from tools.tool import read


def size(text: str) -> int:
    """Measures."""
    return len(text)


async def run(model: ScriptedModel, root: Path, inputs: Any) -> Any:
    context = {"model": model, "tools": ["read_file", read(size)], "root": str(root)}
    return (await graphs.load("one_shot").ainvoke({"task": "measure", "inputs": inputs}, context=context))["report"]


async def test_a_file_is_handed_in_by_its_path_and_read_by_a_tool(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.txt").write_text("12345")
    scripted_model.reply(plan(
        step("r", "read_file", {"path": "${steps.inputs.report.path}"}), step("s", "size", {"text": "${steps.r}"})
    ))  # fmt: skip
    report = await run(scripted_model, tmp_path, {"report": {"file": "report.txt"}})
    assert by_step(report)["s"]["output"] == 5
    sent = "\n".join(str(message["content"]) for message in scripted_model.requests[0]["messages"])
    assert read_fences(sent)["inputs"] == {"report": {"path": "report.txt", "bytes": 5}}


async def test_a_kept_result_is_handed_in_by_its_handle_and_arrives_whole(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    handle = keep("x" * 50_000, str(home))
    scripted_model.reply(plan(step("s", "size", {"text": "${steps.inputs.big}"})))
    report = await run(scripted_model, tmp_path, {"big": {"artefact": handle}})
    assert by_step(report)["s"]["output"] == 50_000


async def test_a_part_that_a_file_does_not_have_is_a_finding(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.txt").write_text("12345")
    scripted_model.reply(*[plan(step("s", "size", {"text": "${steps.inputs.report.bytes}"}))] * 3)
    report = await run(scripted_model, tmp_path, {"report": {"file": "report.txt"}})
    assert report["stop"]["reason"] == "plan_invalid"


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": "missing.txt"}, {"file": "../secret"}, {"file": 3}, {"file": "."}, {"artefact": "../../etc/passwd"},
        {"artefact": "0" * 32}, {"artefact": 3},
    ],
)  # fmt: skip
async def test_a_file_or_handle_that_is_not_there_or_not_allowed_is_one_line(
    home: Path, tmp_path: Path, scripted_model: ScriptedModel, wrong: Any
) -> None:
    with pytest.raises(InputError, match="input 'report'") as caught:
        await run(scripted_model, tmp_path, {"report": wrong})
    assert "\n" not in str(caught.value)


def nested(levels: int, leaf: Any = 1) -> Any:
    """A value with a mapping in a mapping."""
    return leaf if not levels else {"a": nested(levels - 1, leaf)}


def holds_itself() -> Any:
    ring: dict[str, Any] = {"other": 1}
    ring["self"] = ring
    return ring


UNKEPT: list[tuple[Any, str]] = [
    (10**25, "an integer of 84 bits can't be kept, at most 64 can; give it as a text, got "),
    ([{"x": -(10**5000)}], "an integer of 16610 bits"), (nested(200), "nested more than 200 deep"),
    (holds_itself(), "nested more than 200 deep, or holds itself"),
    (object(), "a value of type object can't be kept"), ({"x": [len]}, "can't be kept"),
    (ValueError("x"), "of type ValueError"),
]  # fmt: skip


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(("value", "why"), UNKEPT, ids=range(len(UNKEPT)))
async def test_an_input_that_no_checkpoint_holds_is_one_line_with_its_name_whether_the_run_is_kept_or_not(
    value: Any, why: str, kept: bool, home: Path
) -> None:
    graph = graphs.load("one_shot", checkpointer=InMemorySaver() if kept else None)
    with pytest.raises(InputError, match=f"^input 'odd': .*{re.escape(why)}"):
        await graph.ainvoke({"task": "add 1 and 2", "inputs": {"fine": 1, "odd": value}}, THREAD)
    for name in ("task", "constraints"):
        with pytest.raises(InputError, match=f"^{name}: .*{re.escape(why)}"):
            await graph.ainvoke({"task": "add 1 and 2"} | {name: {"x": value}}, THREAD)
    out = await graph.ainvoke({"task": "add 1 and 2"}, THREAD)
    assert out["report"]["stop"]["reason"] == "done"


async def test_what_can_be_shown_as_json_is_taken_whatever_type_it_has(home: Path) -> None:
    odd = {"day": date(2026, 1, 2), "price": Decimal("1.50"), "names": {"a"}, "z": 1j}
    for kept in (None, InMemorySaver()):
        graph = graphs.load("one_shot", checkpointer=kept)
        values = {**odd, "many": (n for n in range(3)), "deep": nested(199)}
        out = await graph.ainvoke({"task": "add 1 and 2", "inputs": values}, THREAD)
        assert out["report"]["stop"]["reason"] == "done"
        taken = out["request"]["inputs"]
        assert (taken["day"], taken["price"], taken["names"], taken["many"]) == ("2026-01-02", "1.50", ["a"], [0, 1, 2])


@pytest.mark.parametrize("name", ["steps", "tokens", "concurrency", "output_cap"])
def test_a_setting_that_no_checkpoint_holds_is_one_line_with_its_name(name: str) -> None:
    within = name in Limits.model_fields
    with pytest.raises(InputError, match=rf"^context setting '(limits\.)?{name}': .* got 10{{30}}$"):
        graphs.load("one_shot", context={"limits": {name: 10**30}} if within else {name: 10**30})


def test_every_whole_number_of_the_settings_has_a_bound_and_a_schema_of_the_answer_is_one_that_can_be_kept() -> None:
    shown = Context.model_json_schema()
    for place in (shown, shown["$defs"]["Limits"]):
        for name, part in place["properties"].items():
            for kind in part.get("anyOf", [part]):
                assert kind.get("type") != "integer" or kind.get("maximum"), name
    with pytest.raises(InputError, match=r"answer_schema.*an integer of 100 bits"):
        graphs.load("one_shot", context={"answer_schema": {"type": "integer", "maximum": 10**30}})


@pytest.mark.parametrize("levels", [200, 201, 300, 5000])
async def test_a_result_that_is_nested_deeper_than_a_checkpoint_holds_is_said_and_the_run_goes_on(
    levels: int, home: Path
) -> None:
    def deep() -> object:
        """Gives something deep."""
        found: Any = 1
        for _ in range(levels):
            found = [found]
        return found

    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context={"tools": [read(deep)]})
    report = (await graph.ainvoke({"task": "deep"}, THREAD))["report"]
    assert report["stop"]["reason"] == "done"
    assert ("can't be shown as JSON" in str(report["results"][0]["output"])) == (levels > 200)
