"""Reads LLMCompiler's notation: `1. tool(args)`, `$1` for a result, `join()` at the end (Kim et al. 2024, 2312.04511).

Arguments are Python literals; nothing is evaluated. A numbered line that can't be read refuses the whole plan.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from nodes.reading.pythonic import literal
from nodes.reading.text_plan import TextPlan, TextStep, checked, step_name
from state.references import each_text
from state.syntax import parsed

_LINE = re.compile(r"^[ \t*_`-]*(\d+)[.):][ \t]*[*_`]*([^\W\d][\w-]*)[ \t]*\(", re.MULTILINE)
_END = re.compile(r"<END_OF_(?:PLAN|RESPONSE)>")
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_REFERENCE = re.compile(r"\$\{(\d+)\}|\$(\d+)(?![\d,]*[.,]?\d)")
_BARE = re.compile(rf"({_STRING})|\$\{{?(\d+)\}}?", re.DOTALL)
_CLOSED = re.compile(rf"(?:{_STRING}|[^()\"'])*?([()])", re.DOTALL)
_WORDS = re.compile(r"\s*(?!(?:True|False|None)\s*$)[^\W\d]\w*(?:[ -]\w+)*\s*")
"""One text without quotes, as in the published prompts."""
_OTHER = re.compile(r"^[ \t]*\d+[.)][ \t]*\S", re.MULTILINE)


def read_llm_compiler(text: str) -> TextPlan:
    """The plan; raises `ValueError` with the line that can't be read. `$5` in a text is money where no line is 5."""
    calls = list(_calls(_END.split(text, maxsplit=1)[0]))
    known = {number for number, _, _ in calls}
    steps: list[TextStep] = []
    for number, tool, inside in calls:
        inputs, args = _arguments(number, inside)
        found: list[str] = []
        ready = _canonical([inputs, args], known, found)
        deps = [step.id for step in steps] if tool == "join" else dict.fromkeys(found)
        steps.append(TextStep(number, tool, tuple(deps), tuple(ready[0]), ready[1]))
    return checked(steps)


def _calls(text: str) -> Iterator[tuple[str, str, str]]:
    """Number, tool and the text between the brackets of each line."""
    place = 0
    while line := _LINE.search(text, place):
        _nothing_between(text[place : line.start()])
        end = _closing(text, line.end())
        if end is None:
            raise ValueError(f"the call in line {line[1]} is never closed")
        yield line[1], line[2], text[line.end() : end - 1]
        place = end
        if line[2] == "join":
            return
    _nothing_between(text[place:])


def _nothing_between(text: str) -> None:
    if other := _OTHER.search(text):
        raise ValueError(f"a line is no call: {text[other.start() :].strip().splitlines()[0][:80]!r}")


def _closing(text: str, start: int) -> int | None:
    depth = 1
    while piece := _CLOSED.match(text, start):
        depth += 1 if piece[1] == "(" else -1
        start = piece.end()
        if depth == 0:
            return start
    return None


def _arguments(number: str, inside: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments without and with names; a bare `$1` counts as the text `"${1}"`."""
    if _WORDS.fullmatch(inside):
        return [inside.strip()], {}
    quoted = _BARE.sub(lambda found: found[1] or f'"${{{found[2]}}}"', inside)
    try:
        call = parsed(f"f({quoted})", "eval").body
        if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("they are no list of values")
        named = {str(keyword.arg): literal(keyword.value) for keyword in call.keywords}
        return [literal(value) for value in call.args], named
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"the arguments in line {number} can't be read: {error}") from None


def _canonical(value: Any, known: set[str], found: list[str]) -> Any:
    """The value with its references in canonical form; their numbers are added to `found`."""

    def put(one: re.Match[str]) -> str:
        number = one[1] or one[2]
        if number not in known and one[2] and one[0] != one.string:
            return one[0]
        found.append(number)
        return f"${{steps.{step_name(number)}}}"

    return each_text(value, lambda text: _REFERENCE.sub(put, text))
