"""What a person is asked, in the form of LangChain's human-in-the-loop requests, and how answers are read."""

from collections.abc import Mapping
from typing import Any

from nodes.run import Run
from nodes.trust import in_words
from state.errors import InputError, shorten
from state.plain import plain
from state.plan import digest
from tools.journal import Entry
from tools.tool import Tool

Request = dict[str, Any]
"""`id` is ours and stable: it follows from request, step and content, so an answer can't fall on another call."""
DECISIONS = ("approve", "edit", "reject")


def approval_request(run: Run, step: str, part: int | None, tool: Tool, args: dict[str, Any]) -> Request:
    """Asks whether a write may run."""
    identity = digest([run.request["id"], step, part, tool.name, args])
    flow = in_words(run.untrusted.get(step, {}))
    words = f"{tool.name} changes something. May it run?" + (f" Careful: {flow}." if flow else "")
    return _request(identity, "approval", step, tool, args, words, DECISIONS)


def reconcile_request(step: str, tool: Tool, before: Entry) -> Request:
    """Asks what became of a write whose result was lost; a new claim makes a new question."""
    words = (
        f"{tool.name} was begun and its result was lost. Did it happen? approve: yes, it happened, don't run it again; "
        "reject: no, it did not happen, run it."
    )
    identity = digest([before["key"], before["claimed"]])
    return _request(identity, "reconcile", step, tool, before["args"], words, ("approve", "reject"))


def undo_request(run: Run, step: str, done: Entry, tool: Tool, args: dict[str, Any]) -> Request:
    """Asks whether a write of a failed run shall be undone; its id is that of the undo's own approval."""
    identity = digest([run.request["id"], step, None, tool.name, args])
    words = f"The run failed after {done['tool']} was done in step {done['step']}. Undo it by {tool.name}?"
    return _request(identity, "undo", step, tool, args, words, ("approve", "reject"))


def _request(
    identity: str, kind: str, step: str, tool: Tool, args: dict[str, Any], words: str, allowed: tuple[str, ...]
) -> Request:
    return {
        "id": identity,
        "kind": kind,
        "step": step,
        "action_requests": [{"name": tool.name, "args": args, "description": words}],
        "review_configs": [{"action_name": tool.name, "allowed_decisions": list(allowed)}],
    }


def decision(answers: Mapping[str, Any], request: Request) -> dict[str, Any] | None:
    """The recorded answer to a request, or None."""
    found = answers.get(request["id"])
    return dict(found) if found else None


def read_answer(answer: Any, request: Request) -> dict[str, Any]:
    """One decision as it is kept: {"type", "args"?, "message"?}; raises `InputError` for anything else."""
    allowed, answer = request["review_configs"][0]["allowed_decisions"], plain(answer)
    if isinstance(answer, Mapping) and "decisions" in answer:
        given = answer["decisions"]
        answer = given[0] if isinstance(given, list) and len(given) == 1 else given
    if isinstance(answer, str):
        answer = {"type": answer}
    if not isinstance(answer, Mapping) or answer.get("type") not in allowed:
        right = '{"decisions": [{"type": "approve"}]}'
        raise InputError(f"answer {shorten(answer)} can't be read: the type is one of {allowed}, for example {right}")
    if not isinstance(answer.get("message", ""), str):
        raise InputError(f"message {shorten(answer['message'])} is no text")
    if answer["type"] != "edit":
        return _without_edit(answer)
    return {"type": "edit", "args": _edited(answer, request)}


def _without_edit(answer: Mapping[str, Any]) -> dict[str, Any]:
    if answer.get("args") or answer.get("edited_action"):
        raise InputError(f"the answer has other arguments, but its type is {answer['type']!r}; right would be 'edit'")
    return {key: answer[key] for key in ("type", "message", "output") if key in answer}


def _edited(answer: Mapping[str, Any], request: Request) -> dict[str, Any]:
    action = answer.get("edited_action") or {"args": answer.get("args")}
    name = request["action_requests"][0]["name"]
    if not isinstance(action, Mapping):
        raise InputError(f'edited_action is {shorten(action)}; right would be {{"name": {name!r}, "args": {{...}}}}')
    if action.get("name", name) != name:
        raise InputError(f"an edit may change the arguments of {name!r}, not the tool (got {action['name']!r})")
    if not isinstance(action.get("args"), Mapping):
        raise InputError(f"an edit needs the new arguments: edited_action.args is {shorten(action.get('args'))}")
    return dict(action["args"])
