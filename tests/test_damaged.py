"""Kept runs that are damaged: one line that says so, nothing is written, and with a whole file the run goes on."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graphs.cli import execute
from tests.support.mail_server import MailServer

WRITING = 'send "done" to team@example.org'


def cut(share: float) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, int(file.stat().st_size * share))


def garbage(start: int) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        whole = file.read_bytes()
        file.write_bytes(whole[:start] + bytes(range(1, 252)) * (len(whole) // 251))

    return damage


def of_another_schema(file: Path) -> None:
    file.unlink()
    change(file, "CREATE TABLE checkpoints (a)", "CREATE TABLE writes (b)")


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        for statement in statements:
            db.execute(statement)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut in half": cut(0.5), "cut to its head": cut(0.001), "garbage": garbage(0),
    "garbage after its head": garbage(4096),
    "another schema": of_another_schema,
    "broken checkpoints": lambda file: change(file, "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, 90)"),
    "broken metadata": lambda file: change(file, "UPDATE checkpoints SET metadata = x'7b22'"),
    "no settings": lambda file: change(
        file, """UPDATE checkpoints SET metadata = json_set(metadata, '$.forethought_settings', '{}')"""
    ),
    "an unknown form": lambda file: change(file, "UPDATE checkpoints SET type = 'nothing'"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_one_line_and_no_write_and_a_whole_one_goes_on(
    damage: Callable[[Path], None], home: Path, tmp_path: Path, mail_server: MailServer,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMTP_URL", mail_server.url)
    execute(("run", WRITING, "--thread", "mine", "--no-input"))
    assert "(approval)" in capsys.readouterr().out
    shutil.copy(home / "runs.db", tmp_path / "whole.db")
    damage(home / "runs.db")
    code = execute(("resume", "mine", "--yes"))
    said = capsys.readouterr()
    assert code == 2 and said.err.count("\n") == 1
    assert said.err.startswith("error: ") and str(home) in said.err and "Traceback" not in said.err
    assert mail_server.messages == []
    for left in home.glob("runs.db*"):
        left.unlink()
    shutil.copy(tmp_path / "whole.db", home / "runs.db")
    assert execute(("resume", "mine", "--yes")) == 0
    assert len(mail_server.messages) == 1
