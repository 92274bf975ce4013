"""How people write sums, turned into Python's notation: 15%, 1,234.5, ×, ÷, −, ^, full-width digits, math.sqrt.

What can be read in two ways is refused, never guessed.
"""

import re

from state.errors import ToolFailed

_SIGNS = str.maketrans("×✕∗·⋅÷∕−–—（）［］，、．", "*****//---()[],,.")
_WIDE = str.maketrans("０１２３４５６７８９＋－＊／％＾", "0123456789+-*/%^")
_WORDS = {"²": "**2", "³": "**3", "π": "pi", "^": "**", "math.": ""}
_GROUPED = re.compile(r"(?<![\w.])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?|\.\d+)(\s*)%(\s*)(?=(.?))")
_PERCENT_OF = re.compile(r"%\s*of\b")


def to_python(expression: str) -> str:
    """The expression in Python's notation; raises `ToolFailed` where two readings are possible."""
    text = " ".join(expression.translate(_SIGNS).translate(_WIDE).lower().split()).rstrip("= ")
    for written, meant in _WORDS.items():
        text = text.replace(written, meant)
    return _PERCENT.sub(_fraction, _PERCENT_OF.sub("%*", _without_thousands(text)))


def _without_thousands(text: str) -> str:
    """Takes the commas out of 1,234,567; inside a function's brackets they could as well separate arguments."""
    around = _brackets(text)

    def join(match: re.Match[str]) -> str:
        number, where = match[0], around[match.start()]
        if where == "call":
            raise _ambiguous(number, number.replace(",", ""), number.replace(",", ", "))
        return number if where == "list" else number.replace(",", "")

    return _GROUPED.sub(join, text)


def _brackets(text: str) -> list[str]:
    """For every character, what kind of bracket it stands in: call, list, group or none."""
    open_, kinds, before = ["none"], [], ""
    for character in text:
        kinds.append(open_[-1])
        if character == "[":
            open_.append("list")
        elif character == "(":
            inside = before.isalnum() or open_[-1] in ("call", "list")
            open_.append("call" if inside else "group")
        elif character in ")]" and len(open_) > 1:
            open_.pop()
        before = before if character == " " else character
    return kinds


def _fraction(match: re.Match[str]) -> str:
    """Writes the percentage 15% as a fraction and leaves the remainder 17 % 5 alone."""
    number, before, after, following = match.groups()
    if following in ("+", "-") and not before and not after:
        raise _ambiguous(
            f"{number}%{following}", f"{number}% {following} … (percent)", f"{number} % {following}… (remainder)"
        )
    percent = following in ("*", "/", ")", "]", ",", "") or (following in ("+", "-") and not before)
    return f"({number}/100){after}" if percent else match[0]


def _ambiguous(part: str, one: str, other: str) -> ToolFailed:
    return ToolFailed(f"{part!r} can be read in two ways; write {one} or {other}", "invalid_arguments")
