"""README and docs/ as what they hold: blocks of code, and command lines."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "decisions"]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"^\s*print\(.*\)  # (.+)$", re.MULTILINE)
SETTINGS = re.compile(r"^(?:LLM_|OPENAI_|SMTP_|SERPER_|FORETHOUGHT_|OTEL_|LANGSMITH_)")
"""Variables that a newcomer has not set."""


def name_of(page: Path) -> str:
    """As a test calls a page."""
    return str(page.relative_to(ROOT))


def blocks(text: str, *languages: str) -> list[str]:
    """The blocks of code in these languages."""
    return [body for language, body in _BLOCK.findall(text) if language in languages]


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of each shell line, without variables set in front of it and comments behind it."""
    for body in blocks(text, "sh", "bash"):
        for line in body.splitlines():
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"\w+=.*", words[0]):
                words = words[1:]
            if words:
                yield words


def run_block(block: str, page: Path) -> None:
    """Runs a block of Python as a script of its own."""
    exec(compile(block, str(page), "exec"), {"__name__": "__main__"})


def check_said(block: str, out: str) -> None:
    """What stands in a comment behind each `print` was printed, in this order; behind a colon stands a remark."""
    said = out.splitlines()
    for whole in _SAID.findall(block):
        expected = whole if whole in said else whole.partition(":")[0]
        assert expected in said
        del said[: said.index(expected) + 1]
