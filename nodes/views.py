"""What other roles see of results: the plan's steps with what became of them, and what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.conflicts import conflicts
from state.plan import Plan, needs
from state.references import references
from state.result import FINISHED, Result, is_finished, why
from tools.artefacts import as_json

LEAST = 120
"""Characters of a result that are worth showing."""


ROOM = 100_000
"""Characters of outputs that one prompt holds; above that those which others were built on are told in short."""
_LONG = 100
"""Characters from which an argument that a reference brought is told as the reference: it stands in a result."""


def result_views(plans: list[Plan], results: Mapping[str, Result]) -> dict[str, Any]:
    """Every result that still counts, as a prompt shows it."""
    current = {step["id"]: step for step in plans[-1]["steps"]} if plans else {}
    planned = {step["id"]: step["args"] for plan in plans for step in plan["steps"]}
    shown = {name: one for name, one in results.items() if name in current or one["status"] in FINISHED}
    each = {name: step["each"] for name, step in current.items()}
    views = {name: view(one, planned.get(name, {}), each.get(name)) for name, one in shown.items()}
    for settled in (one for one in conflicts(plans, results) if one.stands is not None):
        for name in settled.wrong:
            views[name] = {**views[name], "note": f"corrected: {settled}"}
    return _in_room(views, final_outputs(plans[-1], results) if plans else {})


def _args(shown: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they were, but for long ones that only repeat a result."""
    refers = {name for name, value in planned.items() if references(value)}
    return {name: planned[name] if name in refers and len(as_json(value)) > _LONG else value
            for name, value in shown.items()}  # fmt: skip


def _in_room(views: dict[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """The views as they are while there is room; else the outputs that nothing was built on, and the rest in short."""
    texts = {name: as_json(view["output"]) for name, view in views.items()}
    left = ROOM - sum(len(text) for name, text in texts.items() if name in last)
    rest = {name: text for name, text in texts.items() if name not in last}
    if not rest or sum(map(len, rest.values())) <= left:
        return views
    share = max(LEAST, left // len(rest))
    return views | {name: shortened(views[name], share) for name in rest}


def shortened(view: dict[str, Any], most: int = LEAST) -> dict[str, Any]:
    """A result with no more than the beginning of its output."""
    text = as_json(view["output"])
    return view if len(text) <= most else {**view, "output": _short(text, most)}


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def view(result: Result, planned: Mapping[str, Any], each: str | None = None) -> dict[str, Any]:
    """One result; `planned` are the arguments as they stood in the plan, `each` is the list that its step went over."""
    args = _args(result["args"], planned)
    seen = {"tool": result["tool"], "args": args, "status": result["status"], "output": result["output"]}
    more = {"each": each, "note": why(result)}
    return seen | {name: text for name, text in more.items() if text}


def missing(plans: list[Plan], results: Mapping[str, Result]) -> list[str]:
    """What the current plan was to give and did not, each with the reason."""
    if not plans:
        return ["there is no plan that could run"]
    lines: list[str] = []
    for step in plans[-1]["steps"]:
        result = results.get(step["id"])
        if result is None:
            lines.append(f"{step['id']} ({step['produces'] or step['tool']}): was not run")
        elif result["status"] not in (*FINISHED, "skipped"):
            lines.append(f"{step['id']} ({step['produces'] or step['tool']}): {result['status']}: {why(result)}")
    return lines


def final_outputs(plan: Plan, results: Mapping[str, Result]) -> dict[str, Any]:
    """Outputs of the finished steps that no other finished step builds on, in plan order.

    A write only takes along what a look-up or calculation gave: that is told as well as the write.
    """
    finished = [step for step in plan["steps"] if is_finished(step["id"], results)]
    read = {step["id"] for step in finished if step["effect"] == "read"}
    used = {name for step in finished for name in needs(step) if step["effect"] == "read" or name not in read}
    return {step["id"]: results[step["id"]]["output"] for step in finished if step["id"] not in used}


def answering(plans: Sequence[Plan], results: Mapping[str, Result]) -> dict[str, Any]:
    """Final outputs that stand as an answer by themselves: no other step was to build on them."""
    if not plans:
        return {}
    midway = built_on(plans[-1], results)
    return {name: output for name, output in final_outputs(plans[-1], results).items() if name not in midway}


def built_on(plan: Plan, results: Mapping[str, Result]) -> set[str]:
    """Steps that others were to build on which did not come to their end, nor were left out."""
    closed = (*FINISHED, "skipped")
    left = [step for step in plan["steps"] if step["id"] not in results or results[step["id"]]["status"] not in closed]
    return {name for step in left for name in needs(step)}


def bounded(outputs: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Outputs as they are while they fit; else each shortened to an equal share, and the oldest only by name."""
    texts = {name: as_json(output) for name, output in outputs.items()}
    if sum(map(len, texts.values())) <= room:
        return dict(outputs)
    share = max(LEAST, room // len(texts))
    told = dict(list(texts.items())[-(room // share) :])
    short = {name: _short(text, share) for name, text in told.items()}
    left = len(texts) - len(told)
    return {**({"…": f"{left} earlier results, not shown"} if left else {}), **short}
