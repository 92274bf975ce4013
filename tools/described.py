"""What somebody else's server or document says of its tools, cut and made plain: it stands in prompts and reports."""

import json
import re
from collections.abc import Iterable
from typing import Any

from state.errors import InputError, shorten

_WORDS = ("description", "title", "$comment")
_VALUES = ("default", "enum", "const", "examples", "example")
"""Words of a schema under which any value may stand."""
_LONGEST = 300
_LARGEST = 100_000


def plain_name(said: str, keep: str = "") -> str:
    """A name of letters, digits, _ and what is kept."""
    return re.sub(rf"[^\w{keep}]+", "_", said[:1000]).strip("_")[:64] or "tool"


def plain_names(said: Iterable[str]) -> dict[str, str]:
    """By each name its plain one, which may have a -; of those that become equal the later are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(said):
        plain, number = plain_name(name, "-"), 2
        while plain in taken:
            plain, number = f"{plain_name(name, '-')[:58]}_{number}", number + 1
        taken.add(plain)
        found[name] = plain
    return found


def plain_words(said: object, longest: int = _LONGEST) -> str:
    """A description on one line, without signs that can't be seen."""
    text = " ".join(str(said)[: 20 * longest].split())
    return "".join(letter for letter in text if letter.isprintable())[:longest]


def plain_schema(schema: Any) -> Any:
    """A schema with the descriptions in it made plain; values that stand in it are left as they are."""
    if isinstance(schema, list):
        return [plain_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _part(name, part) for name, part in schema.items()}


def _part(name: str, part: Any) -> Any:
    if name in _WORDS and isinstance(part, str):
        return plain_words(part)
    if name == "properties" and isinstance(part, dict):  # its keys are names, whatever they are
        return {key: plain_schema(one) for key, one in part.items()}
    return part if name in _VALUES else plain_schema(part)


def not_too_large(schema: Any, tool: str) -> Any:
    """The schema, or an `InputError`: every call of a model would carry it."""
    size = len(json.dumps(schema))
    if size > _LARGEST:
        raise InputError(f"tool {shorten(tool)!r} has a schema of {size:,} characters, at most {_LARGEST:,} are taken")
    return schema
