"""Reads ReWOO's own notation: `Plan: why`, then `#E1 = Tool[input]` (Xu et al. 2023, arXiv:2305.18323).

An input ends at the last `]` before the next step, so that brackets, quotes and line breaks in it stay whole.
"""

import re
from itertools import pairwise

from nodes.reading.text_plan import TextPlan, TextStep, checked

_LEAD = r"^[ \t>*_`-]*(?:\d+[.)][ \t]*)?[*_`]*"
_PLAN = re.compile(
    rf"{_LEAD}(?:Plan|计划|规划)(?:[ \t]*\d+)?[*_]*[ \t]*[:：][*_]*[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE
)
_STEP = re.compile(rf"{_LEAD}#(E\d+)[*_`]*[ \t]*[=:：＝][ \t]*", re.MULTILINE)
_SAME_LINE = re.compile(r"(?<=[\s.,;。；])#(E\d+)[ \t]*[=＝][ \t]*(?=[^\W\d][\w .-]*[\[【])")
_LOOSE = re.compile(rf"{_LEAD}#?E\d+\b", re.MULTILINE)
_TOOL = re.compile(r"[*_`]*([^\W\d][\w .-]*?)[*_`]*\s*([\[【])")
_REFERENCE = re.compile(r"#(E\d+)(?!\d)")
_CLOSES = {"[": "]", "【": "】"}


def read_rewoo(text: str) -> TextPlan:
    """The plan; raises `ValueError` with the step that can't be read."""
    text = _PLAN.sub(lambda line: _SAME_LINE.sub(r"\n#\1 = ", line[0], count=1), text)
    marks = sorted([*_STEP.finditer(text), *_PLAN.finditer(text)], key=lambda mark: mark.start())
    for loose in _LOOSE.finditer(text):
        if not any(mark.start() == loose.start() for mark in marks):
            raise ValueError(
                f"a step is not of the form #E1 = Tool[input]: {text[loose.start() :].splitlines()[0][:80]!r}"
            )
    steps, why = [], ""
    for mark, after in pairwise([*marks, None]):
        if mark is None:
            break
        if mark.re is _PLAN:
            why = mark[1].strip()
            continue
        steps.append(_step(mark[1], text[mark.end() : after.start() if after else len(text)], why))
        why = ""
    return checked(steps)


def _step(id: str, written: str, why: str) -> TextStep:
    found = _TOOL.match(written)
    if not found:
        raise ValueError(f"#{id} is no call of the form Tool[input]: {written.strip()[:80]!r}")
    inside = _inside(id, written, found.end(), _CLOSES[found[2]])
    deps = tuple(dict.fromkeys(_REFERENCE.findall(inside)))
    whole = _REFERENCE.sub(r"${steps.\1}", inside)
    return TextStep(id, found[1].strip(), deps, (whole,) if inside else (), why=why)


def _inside(id: str, written: str, start: int, close: str) -> str:
    """The input: up to the last bracket where the step ends with one, else up to the one that closes it."""
    ended = written.rstrip().rstrip("*_`.;。；").rstrip()
    if ended.endswith(close) and len(ended) > start:
        return ended[start:-1].strip()
    depth = 1
    for place in range(start, len(written)):
        depth += (written[place] in "[【") - (written[place] in "]】")
        if depth == 0:
            return written[start:place].strip()
    raise ValueError(f"the input of #{id} is never closed")
