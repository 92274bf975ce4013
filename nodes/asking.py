"""What a person is asked, in the form of LangChain's human-in-the-loop requests.

How answers are read is in `nodes/answers.py`.
"""

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from nodes.run import Run
from nodes.trust import in_words
from state.plan import QuestionDraft, digest
from state.result import Failure, Result
from tools.journal import Entry
from tools.tool import Schema, Tool

Request = dict[str, Any]
"""`id` is ours and stable: it follows from request, step and content, so an answer can't fall on another call.

`answer_schema`, where there is one, is what the message of a `respond` must fit; `argument` and `input` name what it
becomes.
"""
WAITS = "this run can't wait: compile with a checkpointer and pass a thread_id, or "


def approval_request(
    run: Run, step: str, part: int | None, tool: Tool, args: dict[str, Any], careful: str = ""
) -> Request:
    """Asks whether a write may run; `careful` says what else to look at."""
    identity = digest([run.request["id"], step, part, tool.name, args])
    flow = in_words(run.untrusted.get(step, {}))
    words = f"{tool.name} changes something. May it run?"
    words += "".join(f" Careful: {one}." for one in (flow, careful) if one)
    allowed = ("approve", "edit", "reject", "respond")
    return _request(identity, "approval", step, tool, args, words, allowed)


def with_care(request: Request, careful: str) -> Request:
    """The same request, which says what else to look at."""
    [action] = request["action_requests"]
    return {**request, "action_requests": [{**action, "description": f"{action['description']} Careful: {careful}."}]}


def reconcile_request(step: str, tool: Tool, before: Entry, *, at_work: bool = False, since: str = "") -> Request:
    """Asks what became of a write whose result was lost; a new claim makes a new question, and so does its end.

    `at_work`: something is still making it, so that a no may be true only for the moment. `since`: what its end was.
    """
    words = (
        f"{tool.name} was begun and its result was lost{since}. Did it happen? approve: yes, it happened, don't run "
        "it again; reject: no, it did not happen, run it."
    )
    identity = digest([before["key"], before["claimed"], *(["at work"] if at_work else [])])
    request = _request(identity, "reconcile", step, tool, before["args"], words, ("approve", "reject"))
    return {**request, "output_schema": tool.output_schema} if tool.output_schema else request


def undo_request(run: Run, step: str, done: Entry, tool: Tool, args: dict[str, Any]) -> Request:
    """Asks whether a write of a failed run shall be undone; its id is that of the undo's own approval."""
    identity = digest([run.request["id"], step, None, tool.name, args])
    words = f"The run failed after {done['tool']} was done in step {done['step']}. Undo it by {tool.name}?"
    asked = _request(identity, "undo", step, tool, args, words, ("approve", "reject"))
    return {**asked, "undoes": {"key": done["key"], "claimed": done["claimed"]}}


def failure_question(
    identity: str, step: str, tool: Tool, args: dict[str, Any], reason: Failure, argument: str
) -> Request:
    """Asks what to do about a call that failed; `argument` names what it lacks, empty where nothing is known to lack.

    Where a call lacks an input and nobody knows which, no text can be it.
    """
    lacks = reason["cls"] == "missing_input"
    said = f"the value of {argument!r}" if argument else "" if lacks else "the result itself"
    ways = f"respond: {said}; " if said else ""
    ways += "edit: other arguments; approve: try again; reject: leave it."
    words = f"{tool.name}: {_sentence(reason['message'])} {ways}"
    allowed = (*(["respond"] if said else []), "edit", "approve", "reject")
    asked = {**_request(identity, "question", step, tool, args, words, allowed), "failure": reason}
    schema = _of_argument(tool, argument) if argument else None if lacks else tool.output_schema
    return {**asked, **({"argument": argument} if argument else {}), **({"answer_schema": schema} if schema else {})}


def _sentence(said: str) -> str:
    return said if said.endswith((".", "?", "!", "。", "？", "！")) else f"{said}."


def _of_argument(tool: Tool, argument: str) -> Schema:
    defs = {"$defs": tool.args_schema["$defs"]} if "$defs" in tool.args_schema else {}
    return {**tool.args_schema["properties"][argument], **defs}


def result_question(identity: str, step: str, tool: Tool, args: dict[str, Any], why: str) -> Request:
    """Asks what to do about a result that was not accepted."""
    words = (
        f"{tool.name}: {_sentence(why)} approve: take the result as it is; respond: another result; reject: leave it."
    )
    asked = _request(identity, "question", step, tool, args, words, ("approve", "respond", "reject"))
    schema = {"answer_schema": tool.output_schema} if tool.output_schema else {}
    return {**asked, "about": "result", **schema}


def planner_question(request: str, draft: QuestionDraft, taken: Container[str]) -> Request:
    """Asks what the planner lacks; the same words are the same question, and its answer becomes an input of its own."""
    name = re.sub(r"\W+", "_", draft.name, flags=re.ASCII).strip("_") or "answer"
    name = name if name[0].isalpha() else f"input_{name}"
    while name in taken:
        name += "_"
    return {
        "id": digest([request, "question", " ".join(draft.question.split())]),
        "kind": "question",
        "step": "",
        "input": name,
        "answer_schema": {"type": draft.type},
        "action_requests": [{"name": "answer", "args": {"input": name}, "description": draft.question}],
        "review_configs": [{"action_name": "answer", "allowed_decisions": ["respond", "reject"]}],
    }


def _request(
    identity: str, kind: str, step: str, tool: Tool, args: dict[str, Any], words: str, allowed: tuple[str, ...]
) -> Request:
    review: dict[str, Any] = {"action_name": tool.name, "allowed_decisions": list(allowed)}
    return {
        "id": identity,
        "kind": kind,
        "step": step,
        "action_requests": [{"name": tool.name, "args": args, "description": words}],
        "review_configs": [{**review, "args_schema": tool.args_schema} if "edit" in allowed else review],
    }


def open_requests(state: Mapping[str, Any]) -> list[Request]:
    """Everything that waits for a person, in order and each once: about the request as a whole, else from its steps."""
    asked = state["asks"] or [ask for result in _current(state) for ask in result["requests"]]
    return list({ask["id"]: ask for ask in asked}.values())


def _current(state: Mapping[str, Any]) -> Iterable[Result]:
    """Results that wait; a step that only an earlier version of the plan holds waits no more."""
    versions = [{step["id"] for step in plan["steps"]} for plan in state["plans"]]
    dropped = set().union(*versions[:-1]) - versions[-1] if versions else set()
    for name, result in state["results"].items():
        if result["status"] == "unknown" or (result["status"] == "waiting" and name not in dropped):
            yield result


def decision(answers: Mapping[str, Any], request: Request) -> dict[str, Any] | None:
    """The recorded answer to a request, or None."""
    found = answers.get(request["id"])
    return dict(found) if found else None
