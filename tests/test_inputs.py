"""Inputs: values by name, files by path, kept results by handle (A16)."""

from pathlib import Path
from typing import Any

import pytest

import graphs
from nodes.prompts.fence import read_fences
from state.errors import InputError
from tests.support.plans import by_step, plan, step
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
