"""What is loaded before anything is asked for: `import graphs` and `forethought --help` bring nothing heavy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {
    "asyncio", "httpx", "jinja2", "jsonschema", "langchain", "langchain_core", "langgraph", "langsmith", "nodes",
    "openai", "pydantic", "pydantic_core", "rich", "sqlite3", "ssl", "tools", "yaml",
}  # fmt: skip
HELP = """import contextlib, graphs.cli, io
with contextlib.redirect_stdout(io.StringIO()):
    graphs.cli.execute(["--help"])"""


@pytest.mark.parametrize("code", ["import graphs; graphs.names()", HELP], ids=["import graphs", "forethought --help"])
def test_nothing_heavy_is_loaded_before_a_pattern_is(code: str) -> None:
    shown = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\n{shown}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(ended.stdout.splitlines()[-1].split())
    assert "graphs" in loaded and loaded & HEAVY == set()
