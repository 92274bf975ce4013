"""The command where the caller closed a standard stream, or deleted the working folder."""

import subprocess
import sys
from pathlib import Path
from shlex import join

import pytest

import graphs
from state.errors import SetupError

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def in_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder := tmp_path / "work").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return folder


def shell(words: str, *task: str) -> subprocess.CompletedProcess[str]:
    command = join([sys.executable, "-m", "graphs", *task])
    return subprocess.run(["sh", "-c", words.format(command)], text=True, capture_output=True, check=False)


@pytest.mark.parametrize("closed", ["<&- >&-", "2>&-"])
def test_a_closed_stream_leads_nowhere_and_the_run_goes_to_its_end(closed: str, in_a_folder: Path) -> None:
    ran = shell(f"{{}} {closed}", "run", "write hello to a.txt", "--yes")
    assert (ran.returncode, (in_a_folder / "a.txt").read_text()) == (0, "hello")
    assert "Error" not in ran.stdout + ran.stderr
    assert ("done: every step is finished" in ran.stdout) == (closed == "2>&-")


def test_a_task_from_a_closed_standard_input_is_empty() -> None:
    assert "error: the task is empty" in shell("{} <&-", "run", "-").stderr


def test_a_working_folder_that_is_gone_is_said_in_one_line(in_a_folder: Path) -> None:
    ran = shell("rmdir ../work && {}", "run", "add 1 and 2")
    assert ran.stderr == "error: the folder that this works in is not there any more; go to another one (cd)\n"
    assert ran.returncode == 2
    with pytest.raises(SetupError, match="is not there any more"):
        graphs.load("one_shot").invoke({"task": "add 1 and 2"})
