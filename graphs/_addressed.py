"""Which open question an answer is for: LangGraph takes its own ids, and of one question alone an answer without."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Interrupt

from state.errors import InputError, shorten

_LANGGRAPHS = re.compile(r"[0-9a-f]{32}")
_TOLD = 10


def is_addressed(resume: Any) -> bool:
    """Whether every answer stands under an id as LangGraph gives them."""
    return isinstance(resume, Mapping) and bool(resume) and all(_LANGGRAPHS.fullmatch(str(key)) for key in resume)


def addressed(resume: Any, asked: Sequence[Interrupt]) -> Any:
    """The answers under LangGraph's ids, where they stand under those of our requests; else as they are.

    Raises `InputError` where several questions are open and it is not said which one is answered.
    """
    own = {one.value["id"]: one.id for one in asked if isinstance(one.value, Mapping) and "id" in one.value}
    known = {**own, **{one.id: one.id for one in asked}}
    if isinstance(resume, Mapping) and resume and resume.keys() <= known.keys():
        return {known[key]: answer for key, answer in resume.items()}
    if len(asked) < 2:
        return resume
    unknown = [key for key in resume if key not in known] if isinstance(resume, Mapping) else []
    named = f"there is no open question {shorten(unknown[0])}" if unknown and not _is_answer(resume) else ""
    why = named or f"{len(asked)} questions are open, and the answer does not say which it is for"
    right = 'Command(resume={ID: {"decisions": [{"type": "approve"}]}, ...})'
    raise InputError(f"{why}; right would be {right}, with the ids of {', '.join(map(_told, asked[:_TOLD]))}")


def _is_answer(resume: Mapping[str, Any]) -> bool:
    """Whether it is one answer, without an id."""
    return bool(resume.keys() & {"type", "decisions"})


def _told(one: Interrupt) -> str:
    value = one.value if isinstance(one.value, Mapping) else {}
    actions = value.get("action_requests") or [{}]
    about = " of step ".join(filter(None, [str(actions[0].get("name", "")), str(value.get("step", ""))]))
    return f"{value.get('id', one.id)} ({about})" if about else str(one.id)
