"""Reads plans of PDDL actions, `(unstack a b)`, one a line, however the lines are numbered, marked or fenced."""

import re

_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_BLOCK = re.compile(r"\[PLAN\](.*?)\[PLAN END\]", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(
    r"^[ \t]*[*_]*(?:(?:step[ \t]*)?(?P<number>\d+)[.):][ \t]*|[-*•][ \t]+)?[*_`]*"
    r"\((?P<action>[A-Za-z][\w-]*(?:[ \t]+[\w-]+)*)\)[*_`]*[.,]?[ \t]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?:[;#:–—-]|//)")


def read_actions(text: str) -> list[str]:
    """The actions; raises `ValueError` where there are none, or where the text holds more than one plan."""
    blocks = _BLOCK.findall(text) or [block for block in _FENCED.findall(text) if "(" in block] or [text]
    plans = [plan for block in blocks if (plan := _plan(block))]
    if not plans:
        raise ValueError("there are no actions of the form (name object ...)")
    if any(plan != plans[0] for plan in plans):
        raise ValueError("the text holds more than one plan, and they differ")
    return plans[0]


def _plan(block: str) -> list[str]:
    actions, last = [], 0
    for line in block.splitlines():
        if not (found := _ACTION.match(line)) or (found["rest"] and not _REMARK.match(found["rest"])):
            continue
        number = int(found["number"] or 0)
        if number and number <= last:
            raise ValueError("the numbers of the actions begin again: more than one plan")
        last = number or last
        actions.append(f"({' '.join(found['action'].split())})")
    return actions
