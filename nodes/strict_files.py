"""Files that people write, YAML or JSON, read strictly; every error says where, the value, and what would be right.

Leaves out: what stands in them (`nodes/plan_file.py`, `evals/own_tasks.py`).
"""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ValidationError

from nodes.strict_yaml import Lines, Place, YamlFault, read_yaml
from state.errors import InputError, offer, shorten
from state.json_text import from_json, no_number
from tools.given_file import text_of

_MOST = 1_000_000
Offer = Callable[[Place], Iterable[str]]
"""The keys that may stand beside the one at a place; none where that is not known."""


def at_line(source: str, line: int) -> str:
    """The file with the line, where that is known."""
    return f"{source}:{line}" if line else source


def file_text(path: str, endings: tuple[str, ...], what: str, most: int = _MOST) -> str:
    """What stands in a file of one of these kinds; `what` it should hold is said in every error. Blocking."""
    if not path.endswith(endings) and os.path.exists(os.path.expanduser(path)):
        raise InputError(f"the {what} {shorten(path)!r} should be a file that ends in {', '.join(endings)}")
    return text_of(path, f"the {what} {shorten(path)!r}", most)


def read_json(text: str) -> tuple[Any, Lines]:
    """The value, read strictly, and lines where YAML can tell them: most JSON is YAML too."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise YamlFault(f"the key {twice!r} stands twice in one object")
        return dict(pairs)

    try:
        value = from_json(text, pairs=once, numbers=no_number)
    except json.JSONDecodeError as error:
        raise YamlFault(error.msg, error.lineno) from error
    except ValueError as error:
        raise YamlFault(str(error)) from error
    try:
        return value, read_yaml(text)[1]
    except YamlFault:
        return value, {}


def first_fault(error: ValidationError, source: str, lines: Lines, right: Offer) -> str:
    """What is wrong first; a key with a slip comes before what is missing, which it explains."""
    found = error.errors(include_url=False)
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    place = first["loc"]
    known = next((place[:end] for end in range(len(place), -1, -1) if place[:end] in lines), ())
    beside = [*right(place)] if first["type"] == "extra_forbidden" else []
    more = f"; {offer(str(place[-1]), beside)}" if beside else ""
    what = _WORDS.get(first["type"]) or f"{first['msg']}, got {shorten(first['input'])}"
    where = f"{at_line(source, lines.get(known, 0))}: {'.'.join(map(str, place))}"
    return f"{where}: {what}{more}"


_WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "too_short": "there is none; give at least one",
}
"""What is wrong, where pydantic says it in words of its own."""
