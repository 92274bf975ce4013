"""Patterns for names of files: *, ?, [abc], [!abc] inside a name, and ** for any number of folders.

Matching takes time in proportion to pattern and name: no star is ever tried again once what follows it was found.
"""

import re
from collections.abc import Callable

from state.errors import ToolFailed, shorten

_MOST = 1_000
_WILD = re.compile(r"(\*+|\?|\[!?[^\]/]+\])")
Name = Callable[[str], object]


def matcher(pattern: str) -> Callable[[str], bool]:
    """Tells whether a relative path matches."""
    if len(pattern) > _MOST:
        raise ToolFailed(f"a pattern of {len(pattern)} characters is too long, at most {_MOST}", "invalid_arguments")
    try:
        parts = [None if part == "**" else _name(part) for part in pattern.split("/")]
    except re.error as error:
        raise ToolFailed(f"pattern {shorten(pattern)!r} can't be read: {error}", "invalid_arguments") from error
    return lambda path: _matches(parts, path.split("/"))


def _matches(parts: list[Name | None], names: list[str]) -> bool:
    """Goes through both at once; where it fails, the last ** (None) takes one folder more."""
    at = here = 0
    any_folder, taken = -1, 0
    while here < len(names):
        part = parts[at] if at < len(parts) else None
        if at < len(parts) and part is None:
            any_folder, taken, at = at, here, at + 1
        elif part is not None and part(names[here]):
            at, here = at + 1, here + 1
        elif any_folder >= 0:
            taken += 1
            at, here = any_folder + 1, taken
        else:
            return False
    return all(part is None for part in parts[at:])


def _name(part: str) -> Name:
    """One name without a slash, as an expression that does not go back."""
    fixed = [""]
    for piece in _WILD.split(part):
        if piece.startswith("*"):
            fixed.append("")
        else:
            fixed[-1] += _meaning(piece)
    first, *more = fixed
    if more:
        first += "".join(f"(?>.*?{middle})" for middle in more[:-1]) + f".*{more[-1]}"
    return re.compile(first, re.DOTALL).fullmatch


def _meaning(piece: str) -> str:
    if piece == "?":
        return "."
    if not piece.startswith("[") or not _WILD.fullmatch(piece):
        return re.escape(piece)
    letters, no = piece[1:-1].removeprefix("!"), piece[1] == "!"
    return f"[{'^' if no else ''}{re.escape(letters).replace(chr(92) + '-', '-')}]"
