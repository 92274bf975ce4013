"""Every file that a user names is read in one way: what is wrong is one line with the file and what would be right."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evals.own_tasks import own
from evals.tasks import json_lines, read_json
from graphs._cases import EXPECTED, check_case
from graphs._options import inputs_of
from nodes.replay import read_lines
from nodes.strict_files import file_text
from state.errors import InputError
from tools.given_file import text_of
from tools.openapi_source import read_document

READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a plan": ("a.yaml", lambda path: file_text(str(path), (".yaml",), "plan")),
    "tasks": ("a.yaml", lambda path: own(str(path))),
    "inputs": ("a.json", lambda path: inputs_of(f"@{path}")),
    "an OpenAPI document": ("a.json", lambda path: read_document(str(path))),
    "a recording": ("a.jsonl", lambda path: read_lines(str(path))),
    "a case": (EXPECTED, lambda path: check_case(path.parent)),
    "lines of a task set": ("a.jsonl", lambda path: list(json_lines(path))),
    "a file of a task set": ("a.json", read_json),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "can't be read: No such file or directory; right would be the path of a file with text"),
        ("a pipe", "is a named pipe; right would be the path of a file with text"),
        ("a folder", "can't be read: Is a directory; right would be"),
        (b"[1,\xff]", "is no UTF-8 text, at byte 3; right would be a file of UTF-8"),
    ],
    ids=str,
)
def test_a_file_that_can_not_be_read_is_named_with_what_is_wrong_and_what_would_be_right(
    reader: tuple[str, Callable[[Path], Any]], data: Any, said: str, tmp_path: Path
) -> None:
    name, read = reader
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    elif data == "a pipe":
        os.mkfifo(path)
    elif data:
        path.mkdir()
    with pytest.raises(InputError, match=said) as refused:
        read(path)
    assert path.name in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\ufeffabc", encoding="utf-8")
    read = partial(text_of, path, "the file 'a.txt'")
    assert read(6) == "abc"
    with pytest.raises(InputError, match=r"the file 'a\.txt' has more than 5 bytes, which is the most"):
        read(5)


def test_what_the_shell_of_the_caller_opened_is_read() -> None:
    reads, writes = os.pipe()
    os.write(writes, b"{}")
    os.close(writes)
    assert text_of(f"/dev/fd/{reads}", "the file", 5) == "{}"
    os.close(reads)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_inputs_with_a_number_that_json_does_not_know_are_refused(number: str) -> None:
    with pytest.raises(InputError, match=r"--inputs: .* is no JSON: .*(number|digits)"):
        inputs_of(f'{{"a": {number}}}')


def test_a_line_of_a_task_set_that_is_no_json_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "one\u2028line"}\n\n{"b"}\n', encoding="utf-8")
    lines = json_lines(path)
    assert next(lines) == {"a": "one\u2028line"}
    with pytest.raises(InputError, match=r"a\.jsonl:3 is no JSON: .*; right would be"):
        next(lines)
