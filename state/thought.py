"""One turn of reasoning: what was thought, on what evidence, and what it asked for."""

from typing import Literal

from typing_extensions import TypedDict

Kind = Literal["fact", "inference", "assumption"]
Next = Literal["act", "finish", "give_up", "plan", "reflect"]


class Mark(TypedDict):
    """A statement with the steps that speak for it; `id` is set on an assumption, the last two name one."""

    kind: Kind
    text: str
    evidence: list[str]
    id: str
    confirms: str
    contradicts: str


class Thought(TypedDict):
    """A turn; `step` is the id of the step that it asked for, empty where it asked for none."""

    turn: int
    text: str
    marks: list[Mark]
    next: Next
    step: str


def contradicted(thoughts: list[Thought]) -> list[Mark]:
    """Assumptions that the last turn, with evidence, says not to hold."""
    said = {mark["contradicts"] for mark in thoughts[-1]["marks"] if mark["evidence"]} if thoughts else set()
    return [mark for thought in thoughts for mark in thought["marks"] if mark["id"] and mark["id"] in said]


def broken(thoughts: list[Thought]) -> dict[str, list[str]]:
    """By text the assumptions that evidence contradicts, each with the steps that say so, also where others confirm."""
    marks = [mark for thought in thoughts for mark in thought["marks"]]
    against: dict[str, list[str]] = {}
    for mark in marks:
        if mark["contradicts"] and mark["evidence"]:
            against.setdefault(mark["contradicts"], []).extend(mark["evidence"])
    return {mark["text"]: list(dict.fromkeys(against[mark["id"]])) for mark in marks if mark["id"] in against}


def unconfirmed(thoughts: list[Thought]) -> list[str]:
    """Assumptions that no later statement with evidence confirmed or contradicted, each once."""
    marks = [mark for thought in thoughts for mark in thought["marks"]]
    confirmed = {mark["confirms"] for mark in marks if mark["confirms"] and mark["evidence"]}
    open_ones = dict.fromkeys(mark["text"] for mark in marks if mark["id"] and mark["id"] not in confirmed)
    return [text for text in open_ones if text not in broken(thoughts)]
