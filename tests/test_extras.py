"""Extras: an error names one that there is, with a command that works in a clone."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from state.errors import SetupError
from state.extras import extra
from tools.journal_postgres import parts_of

ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
CODE = [path for name in ("state", "tools", "nodes", "graphs", "page", "evals") for path in (ROOT / name).rglob("*.py")]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]


def test_every_extra_that_is_named_is_there() -> None:
    said = "\n".join(path.read_text("utf-8") for path in (*CODE, *PAGES))
    named = re.findall(r"extra\('(\w+)'\)|extra `(\w+)`|\.\[(\w+)\]", said)
    assert {name for names in named for name in names if name} - {"NAME"} <= EXTRAS.keys()


def test_how_one_is_installed_is_said_in_one_place() -> None:
    saying = {path.name for path in CODE if "pip install" in path.read_text("utf-8")}
    assert saying == {"extras.py", "bfcl.py"}  # the second is a package that no extra may hold
    assert extra("sql") == "the extra sql (pip install -e '.[sql]' in the folder of forethought)"


def test_a_database_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SetupError, match=r"pip install -e '\.\[postgres\]' in the folder"):
        parts_of("postgresql://localhost/x")
