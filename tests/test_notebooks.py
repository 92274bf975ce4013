"""The notebooks: kept without outputs and paths, run to their end without a key, and draw what they promise."""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import graphs

ROOT = Path(__file__).parent.parent
NOTEBOOKS = [pytest.param(path, id=path.stem) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
_PATH = re.compile(r"(?:^|[\"'\s(=])(?:/(?:home|Users|root|tmp|work|mnt|opt|var)/|[A-Za-z]:\\)")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def text_of(path: Path) -> str:
    return "\n".join(cell.source for cell in read(path).cells)


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_is_kept_without_outputs_and_without_a_path_of_a_machine(path: Path) -> None:
    assert all(not cell.outputs and cell.execution_count is None for cell in code(path))
    assert not _PATH.search(text_of(path))
    assert set(read(path).metadata) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_shows_a_plan_a_time_line_and_both_ways_to_run(path: Path) -> None:
    for part in ("graphs.picture(", "graphs.timeline(", "await ", ".invoke("):
        assert part in text_of(path)


def test_every_pattern_is_in_a_notebook() -> None:
    text = "\n".join(text_of(path.values[0]) for path in NOTEBOOKS)  # type: ignore[arg-type]
    told = "graphs.names()" in text
    assert told and {name for name in graphs.names() if name in text} >= {"one_shot", "react", "reflection", "workflow"}


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_to_its_end(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("FORETHOUGHT_HOME", str(tmp_path))
    notebook = read(path)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    drawn = [cell for cell in notebook.cells if cell.cell_type == "code" and "graphs.picture(" in cell.source]
    for cell in drawn:
        assert any("image/svg+xml" in output.get("data", {}) for output in cell.outputs), cell.source
    assert not any(output.output_type == "stream" and output.name == "stderr" for c in drawn for output in c.outputs)
