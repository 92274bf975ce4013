"""The README is true: its Python runs as it stands, its commands parse, its tables and links hold."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from graphs.cli import app, execute
from state.context import Context
from state.limits import Limits
from state.stop import StopReason
from tests.support.pages import ROOT, SETTINGS, blocks, check_said, command_lines, run_block

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
README = PAGES[0].read_text(encoding="utf-8")
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


COMMANDS = [(page.name, words) for page in PAGES for words in command_lines(page.read_text(encoding="utf-8"))]
OURS = [pytest.param(words[1:], id=shlex.join(words)) for _, words in COMMANDS if words[0] == "forethought"]
TARGETS = [pytest.param(words, id=shlex.join(words)) for _, words in COMMANDS if words[0] == "make"]


@pytest.fixture(autouse=True)
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no settings in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in filter(SETTINGS.match, list(os.environ)):
        monkeypatch.delenv(name)


@pytest.mark.parametrize("block", blocks(README, "python"), ids=lambda block: block.strip().splitlines()[-1][:40])
def test_each_python_block_runs_alone_and_says_what_its_comments_say(
    block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_block(block, PAGES[0])
    check_said(block, capsys.readouterr().out)


def test_its_commands_do_what_it_says_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    for words in [words for page, words in COMMANDS if page == "README.md" and words[0] == "forethought"]:
        code = execute(words[1:])
        said = capsys.readouterr()
        assert code == (StopReason.NEEDS_APPROVAL.exit_code if "--no-input" in words else 0), said
    assert Path("hello.txt").read_text(encoding="utf-8") == "hello"


@pytest.mark.parametrize("arguments", OURS)
def test_each_command_line_is_one_that_the_command_takes(arguments: list[str]) -> None:
    name, *rest = arguments
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, rest)


@pytest.mark.parametrize("words", TARGETS)
def test_each_make_line_is_one_that_the_makefile_takes(words: list[str]) -> None:
    ran = subprocess.run(
        [*words, "--dry-run"], cwd=ROOT, timeout=50, capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_there_is_something_to_try() -> None:
    assert len(blocks(README, "python")) > 4 and len(OURS) > 6 and len(TARGETS) > 2


def test_every_subcommand_is_shown() -> None:
    shown = {param.values[0][0] for param in OURS}  # type: ignore[index]
    assert set(get_command(app).commands) <= shown  # type: ignore[attr-defined]


def test_the_table_of_limits_is_that_of_the_code() -> None:
    table = README[README.index("| limit | default |") :].split("\n\n")[0]
    told = {}
    for row in table.splitlines()[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        for names, default in (cells[:2], cells[2:]):
            told |= dict.fromkeys(re.findall(r"`(\w+)`", names), default)
    right = {
        name: "none" if field.default is None else str(field.default) for name, field in Limits.model_fields.items()
    }
    assert told == right


def test_the_settings_it_names_are_there() -> None:
    settings = README[README.index("Settings are a `Context`") :].split("\n\n")[0]
    values = {"plan", "step", "critical", "ask", "deny", "allow", "Context"}
    named = set(re.findall(r"`(\w+)`", settings)) - values
    assert named and named <= set(Context.model_fields)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []
