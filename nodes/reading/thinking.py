"""Sets reasoning aside: think tags of many models, closed, unclosed, twice, or without their beginning.

A tag inside JSON data, or in quotes, is text and stays where it is.
"""

import re
from dataclasses import dataclass, replace

from nodes.reading.objects import next_outside

_NAMES = "think|thinking|thought|reasoning|reflection|seed:think|mm:think"
_PAIRS = (
    (rf"<(?P<name>{_NAMES})>", r"</{name}>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|channel>thought\b", r"<channel\|>"),
)
_BEGINS = re.compile(rf"(?<![`\"'“「])(?:{'|'.join(begin for begin, _ in _PAIRS)})", re.IGNORECASE)
_ENDS = re.compile(
    rf"(?<![`\"'“「])(?:</(?:{_NAMES})>|{'|'.join(end for _, end in _PAIRS[1:])})",
    re.IGNORECASE,
)
_EITHER = re.compile(f"(?P<begin>{_BEGINS.pattern})|(?P<end>{_ENDS.pattern})", re.IGNORECASE)


_BEFORE = re.compile(r"\s*(?:<\|im_start\|>assistant\s*\n|<\|START_RESPONSE\|>|<\|assistant\|>)")
_OVER = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|endoftext|end_of_text|END_RESPONSE|END_OF_TURN_TOKEN)\|>|</s>\s*\Z|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>|<\|im_start\|>(?!assistant)"
)


@dataclass(frozen=True)
class Parted:
    """A text without its reasoning; `open` says that the reasoning never ended."""

    visible: str
    reasoning: str = ""
    open: bool = False


def set_aside(text: str) -> Parted:
    """Parts a text up to its end mark; what a model writes after that (a turn of somebody else) it has made up."""
    parted = _parted(text)
    over = next_outside(_OVER, parted.visible)
    visible = parted.visible[: over.start()] if over else parted.visible
    return replace(parted, visible=_BEFORE.sub("", visible, count=1) if _BEFORE.match(visible) else visible)


def _parted(text: str) -> Parted:
    """Parts a text; what follows an unclosed tag is reasoning, and so is what precedes a lone closing one."""
    visible, reasoning, place = "", [], 0
    while tag := next_outside(_EITHER, text, place):
        before = visible + text[place : tag.start()]
        if tag["end"]:
            visible, place = "", tag.end()
            reasoning.append(before)
            continue
        visible = before
        if not (end := _end_of(tag).search(text, tag.end())):
            return Parted(visible, _joined([*reasoning, text[tag.end() :]]), open=True)
        reasoning.append(text[tag.end() : end.start()])
        place = end.end()
    return Parted(visible + text[place:], _joined(reasoning))


def _end_of(tag: re.Match[str]) -> re.Pattern[str]:
    """The closing tag of an opening one."""
    if tag["name"]:
        return re.compile(f"</{tag['name']}>", re.IGNORECASE)
    return next(
        re.compile(end, re.IGNORECASE) for begin, end in _PAIRS[1:] if re.fullmatch(begin, tag[0], re.IGNORECASE)
    )


def _joined(parts: list[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
