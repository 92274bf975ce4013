"""docs/ is true: each block of Python runs as it stands, each command as its page says, each pattern has a page."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphs
from evals.oracle import MODEL_CALLS
from graphs.cli import execute
from state.context import Context
from state.stop import StopReason
from tests.support.dev_server import dev_server
from tests.support.model_server import ModelServer
from tests.support.pages import DOCS, ROOT, SETTINGS, blocks, check_said, command_lines, name_of, run_block
from tests.support.runs import grade, plan, says, step

PATTERN_PAGES = ROOT / "docs" / "patterns"
EVERYWHERE = {"steps", "model_calls", "tool_calls", "tokens", "money", "seconds"}
"""Limits that end every pattern."""
OTHERS = {"reflection": {"r": 1}, "auto": {"p": 1}}
"""What stands in the formulas that are not by steps, in the example of the page."""
SERVED = "http://127.0.0.1:2026"
"""The server that docs/scale.md speaks of."""


@pytest.fixture(autouse=True)
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, no settings in the environment, and what pip installed on the path."""
    monkeypatch.chdir(tmp_path)
    for name in filter(SETTINGS.match, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


# ---- a page for each pattern


def page_of(pattern: str) -> str:
    return (PATTERN_PAGES / f"{pattern}.md").read_text(encoding="utf-8")


def row_of(pattern: str, name: str) -> str:
    [row] = re.findall(rf"^\| {name} \| (.*) \|$", page_of(pattern), re.M)
    return str(row)


def test_every_pattern_has_a_page_and_a_row_in_the_index() -> None:
    assert {page.stem for page in PATTERN_PAGES.glob("*.md")} == {*graphs.names(), "README"}
    index, readme = ((folder / "README.md").read_text(encoding="utf-8") for folder in (PATTERN_PAGES, ROOT))
    for name in graphs.names():
        assert f"[`{name}`]({name}.md)" in index and f"[`{name}`](docs/patterns/{name}.md)" in readme


@pytest.mark.parametrize("pattern", graphs.names())
def test_the_drawing_of_a_pattern_is_the_current_one(pattern: str) -> None:
    drawn = graphs.picture(pattern).mermaid
    assert blocks(page_of(pattern), "mermaid") == [drawn], f"write it anew: forethought draw {pattern}"


@pytest.mark.parametrize("pattern", graphs.names())
def test_the_model_calls_of_a_pattern_are_those_that_the_tests_hold(pattern: str) -> None:
    formula = row_of(pattern, "model calls").split("`")[1]
    example = int(re.findall(r'print\(report\["usage"\]\["model_calls"\]\)  # (\d+)', page_of(pattern))[0])
    if pattern in OTHERS:
        assert eval(formula, dict(OTHERS[pattern])) == example
    else:
        assert [eval(formula, {"n": n}) for n in range(1, 9)] == [MODEL_CALLS[pattern](n) for n in range(1, 9)]


@pytest.mark.parametrize("pattern", graphs.names())
def test_the_paper_the_settings_and_the_limits_of_a_pattern_are_those_of_the_code(pattern: str) -> None:
    said = ast.get_docstring(ast.parse((ROOT / "graphs" / f"{pattern}.py").read_text(encoding="utf-8"))) or ""
    assert set(re.findall(r"arXiv:\S+\d", said)) <= set(re.findall(r"arXiv:\d+\.\d+", row_of(pattern, "paper")))
    settings = re.sub(r"\([^)]*\)", "", row_of(pattern, "settings"))
    assert set(re.findall(r"`(\w+)`", settings)) <= Context.model_fields.keys()
    head, *rows = re.findall(r"^\| (?:limit|`\w+`) \|.*$", (ROOT / "docs" / "limits.md").read_text("utf-8"), re.M)
    at = [cell.strip() for cell in head.split("|")].index(pattern)
    cells = [row.split("|") for row in rows if row.count("|") == head.count("|")]
    ends = {row[1].strip(" `") for row in cells if row[at].strip() == "ends"}
    assert set(re.findall(r"`(\w+)`", row_of(pattern, "limits"))) == ends - EVERYWHERE


# ---- blocks of Python

BLOCKS = [
    pytest.param(page, block, id=f"{name_of(page)}-{place}")
    for page in DOCS
    for place, block in enumerate(blocks(page.read_text(encoding="utf-8"), "python"))
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), [one for one in BLOCKS if SERVED not in one.values[1]])  # type: ignore[operator]
def test_each_python_block_runs_alone_and_says_what_its_comments_say(
    page: Path, block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_block(block, page)
    check_said(block, capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_block_that_asks_a_server_runs_against_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [(page, block)] = [one.values for one in BLOCKS if SERVED in one.values[1]]  # type: ignore[operator]
    with dev_server(tmp_path) as url:
        run_block(str(block).replace(SERVED, url), page)  # type: ignore[arg-type]
    check_said(str(block), capsys.readouterr().out)


# ---- commands

NOT_RUN = {
    "forethought ui": "a server that runs until Ctrl-C; tests/test_ui.py starts it",
    "forethought eval": "hours, or the public data; tests/test_eval.py runs the command",
    "forethought show react/gsm8k": "what such an eval kept",
    "mcp:https://example.org": "a server that is not there",
}
"""Command lines that are only parsed (tests/test_readme.py), and why."""
Out = pytest.CaptureFixture[str]
Replaced = dict[str, str]


def nothing(model: ModelServer, out: Out) -> Replaced:
    return {}


def saved_plans(model: ModelServer, out: Out) -> Replaced:
    """The file of docs/workflows.md, here and in a folder of plans."""
    [text] = blocks((ROOT / "docs" / "workflows.md").read_text(encoding="utf-8"), "yaml")
    Path("plans").mkdir()
    for folder in (".", "plans"):
        Path(folder, "price.yaml").write_text(text, encoding="utf-8")
    return {}


def three_versions(model: ModelServer, out: Out) -> Replaced:
    """A kept run with three versions of its plan."""
    failing = [step("s2", "read_file", path="a.txt"), step("s3", "read_file", path="b.txt")]
    model.reply(plan(step("s1", "calculator", expression="1 + 1"), failing[0]), plan(failing[1]), *GOOD)
    assert execute(["run", "find the number", "--thread", "RUN", *at(model)]) == 0
    return {}


def a_run_to_fork(model: ModelServer, out: Out) -> Replaced:
    """The same, and what the model says in two forks of it."""
    three_versions(model, out)
    model.reply(*GOOD, *GOOD)
    return {}


def a_draft(model: ModelServer, out: Out) -> Replaced:
    """A lesson drafted from a run that failed, and what a model says about a haiku."""
    Path("there.txt").touch()
    assert execute(["run", "read none.txt", "--model", "offline"]) == StopReason.CANNOT_BE_DONE.exit_code
    out.readouterr()
    assert execute(["lessons", "draft", "--model", "offline", "--json"]) == 0
    [draft] = json.loads(out.readouterr().out)
    model.reply(plan(step("s", "calculator", expression="1")), says("rain"), grade())
    return {"l0123abcd": draft["id"]}


def described_api(model: ModelServer, out: Out) -> Replaced:
    """A small OpenAPI document in the place of the pet store."""
    named = {"operationId": "list_pets", "responses": {"200": {"description": "the pets"}}}
    document = {"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/pets": {"get": named}}}
    document["servers"] = [{"url": "https://pets.example.org"}]
    Path("petstore.yaml").write_text(json.dumps(document), encoding="utf-8")
    return {}


GOOD = (plan(step("s4", "calculator", expression="6 * 7")), says("42"))
PREPARED: dict[str, Callable[[ModelServer, Out], Replaced]] = {
    "docs/choice.md": saved_plans, "docs/workflows.md": saved_plans, "docs/pictures.md": three_versions,
    "docs/runs.md": a_run_to_fork, "docs/lessons.md": a_draft, "docs/tools.md": described_api,
}  # fmt: skip
"""What a page takes for granted."""
ASKS_A_MODEL = {"docs/runs.md", "docs/lessons.md"}


def at(model: ModelServer) -> list[str]:
    return ["--model", "scripted", "--base-url", model.url]


def ours(page: Path) -> list[list[str]]:
    """The command lines of a page that are run."""
    lines = [words for words in command_lines(page.read_text(encoding="utf-8")) if words[0] == "forethought"]
    return [words[1:] for words in lines if not any(part in " ".join(words) for part in NOT_RUN)]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", [page for page in DOCS if ours(page)], ids=name_of)
def test_the_commands_of_a_page_do_what_it_says_one_after_the_other(
    page: Path, model_server: ModelServer, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = PREPARED.get(name_of(page), nothing)(model_server, capsys)
    if name_of(page) in ASKS_A_MODEL:
        for name, value in model_server.environment.items():
            monkeypatch.setenv(name, value)
    for words in ours(page):
        code = execute([replaced.get(word, word) for word in words])
        right = StopReason.CANNOT_BE_DONE.exit_code if "..." in words else 0  # a task that is left to the reader
        assert code == right, (words, capsys.readouterr())


def test_what_is_only_parsed_is_there() -> None:
    every = [" ".join(words) for page in DOCS for words in command_lines(page.read_text(encoding="utf-8"))]
    assert all(any(part in line for line in every) for part in NOT_RUN)


@pytest.mark.slow
def test_the_first_command_of_the_readme_does_what_it_says(tmp_path: Path) -> None:
    [line] = [words for words in command_lines((ROOT / "README.md").read_text("utf-8")) if words[:2] == ["make", "run"]]
    for name in ("README.md", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (python := tmp_path / "env" / "bin" / "python").parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    (tmp_path / "env" / "run.stamp").touch()
    made = [*line, "-f", str(ROOT / "Makefile"), "VENV=env", "-o", "env/run.stamp"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(made, cwd=tmp_path, env=environment, check=True, timeout=60, stdin=subprocess.DEVNULL)
    words = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert (tmp_path / "result.txt").read_text(encoding="utf-8") == f"{2 * words}\n"
