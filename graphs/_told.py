"""What was thought and written in a run, as lines: the turns of a reasoner, and drafts with what was found in them."""

from collections.abc import Iterable

from graphs._words import one_line, visible
from state.draft import Draft
from state.report import Report
from state.thought import Thought


def turns(report: Report) -> list[str]:
    """Each turn with its thought, what it rests on, and the step that it asked for."""
    return [line for thought in report["thoughts"] for line in _turn(thought)]


def drafts(report: Report) -> list[str]:
    """Each draft with what was said to the findings before it, its verdict, its scores and its findings."""
    return [line for draft in report.get("drafts") or [] for line in _draft(draft)]


def _turn(thought: Thought) -> Iterable[str]:
    onward = visible(thought["step"]) or thought["next"].replace("_", " ")
    yield f"  {thought['turn']}: {one_line(thought['text'], 500)} -> {onward}"
    for mark in thought["marks"]:
        rests = f" (by {', '.join(map(visible, mark['evidence']))})" if mark["evidence"] else ""
        yield f"     {mark['kind']}: {one_line(mark['text'], 300)}{rests}"


def _draft(draft: Draft) -> Iterable[str]:
    yield f"  {draft['number']}: {one_line(draft['answer'], 500)}"
    for reply in draft["replies"]:
        done = reply["done"].replace("_", " ")
        yield f"     to {visible(reply['finding'])}: {done}: {one_line(reply['because'], 300)}"
    verdict = draft["verdict"]
    if verdict is None:
        yield "     not reviewed"
        return
    scores = ", ".join(f"{visible(name)} {score}" for name, score in verdict["scores"].items())
    yield f"     {verdict['outcome']}{f' ({scores})' if scores else ''}"
    for found in draft["findings"]:
        yield f"     {visible(found['id'])} {visible(found['dimension'])}: {one_line(found['text'], 500)}"
    if not draft["findings"]:
        yield from (f"     {one_line(problem, 500)}" for problem in verdict["problems"])
