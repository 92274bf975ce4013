"""How a person's answer is read: one decision, kept with what it is about; and the form in which a UI may ask for it.

A wrong answer is told back with the next asking, never raised out of the run, so LangGraph is given the form as JSON
Schema, by which it shows and does not judge.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from langgraph.types import interrupt

from nodes.asking import Request
from nodes.typed_args import misfit
from state.errors import InputError, shorten
from state.json_text import from_json
from state.plain import plain
from state.plan import canonical, digest
from tools.exact import exact
from tools.tool import Tool

T = TypeVar("T")
LONGEST = 100_000
"""Characters of an answer; it stands in every checkpoint from then on."""
Answer = dict[str, Any]
_RIGHT = {
    "respond": '{"decisions": [{"type": "respond", "message": "..."}]}',
    "approve": '{"decisions": [{"type": "approve"}]}',
    "edit": '{"decisions": [{"type": "edit", "edited_action": {"name": "...", "args": {...}}}]}',
}


_BESIDE = {"by": "who answered, if it was no person", "mark": "which answer it is, for whoever gave it to know it by"}
"""What may stand beside any decision."""


def as_given(resume: Any) -> Any:
    """What answers a paused run, as a checkpoint can hold it; one that is too long is refused before it is kept."""
    if isinstance(resume, Mapping):
        return {name: as_given_one(answer) for name, answer in resume.items()}
    return as_given_one(resume)


def as_given_one(answer: Any) -> Any:
    """One answer, JSON-plain; raises `InputError` where it is too long."""
    found = plain(answer)
    if (size := len(json.dumps(found, ensure_ascii=False))) > LONGEST:
        raise InputError(
            f"the answer has {size:,} characters, at most {LONGEST:,} are taken; put long text into a file"
        )
    return found


async def ask(request: Request, take: Callable[[Any], Awaitable[T]]) -> T:
    """Asks until an answer can be taken. Nothing may act before it: a resumed node runs again from its top."""
    wrong = ""
    while True:
        given = interrupt({**request, "problem": wrong} if wrong else request, response_schema=answer_form(request))
        try:
            return await take(given)
        except InputError as error:
            wrong = str(error)


def read_answer(answer: Any, request: Request) -> Answer:
    """One decision as it is kept: {"type", "args"?, "message"?, "value"?}; raises `InputError` for anything else."""
    allowed, answer = request["review_configs"][0]["allowed_decisions"], as_given_one(answer)
    if isinstance(answer, Mapping) and "decisions" in answer:
        given = answer["decisions"]
        answer = given[0] if isinstance(given, list) and len(given) == 1 else given
    if isinstance(answer, str):
        answer = {"type": answer}
    if not isinstance(answer, Mapping) or answer.get("type") not in allowed:
        right = next(_RIGHT[word] for word in allowed if word in _RIGHT)
        raise InputError(f"answer {shorten(answer)} can't be read: the type is one of {allowed}, for example {right}")
    if not isinstance(answer.get("message", ""), str) and answer["type"] != "respond":
        raise InputError(f"message {shorten(answer['message'])} is no text")
    for name, what in _BESIDE.items():
        if not isinstance(answer.get(name), str | None):
            raise InputError(f"{name} is {shorten(answer[name])}; right would be a text that says {what}")
    beside = {name: answer[name] for name in _BESIDE if answer.get(name)}
    return {**_READERS.get(answer["type"], _plain_word)(answer, request), **beside}


def told_apart(answer: Answer, request: Request) -> list[str]:
    """What an event says of an answer: its question, and the mark that whoever gave it knows it by."""
    return [request["id"], *([answer["mark"]] if "mark" in answer else [])]


def kept(answer: Answer, request: Request) -> Answer:
    """The answer with what it was about, as approvals hold it."""
    action = request["action_requests"][0]
    about = {"kind": request["kind"], "step": request["step"], "tool": action["name"]}
    named: Answer = {key: request[key] for key in ("argument", "input", "failure") if key in request}
    schema = request["review_configs"][0].get("args_schema", {})
    words = {"question": action["description"]} if "input" in request else {}
    return {**answer, **about, **named, **words, "call": call_mark(action["name"], action["args"], schema)}


def call_mark(tool: str, args: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The same for every call of a tool with these arguments, whatever step of whatever version makes it."""
    return digest([tool, exact(args, schema)])


def rejection(answers: Mapping[str, Any], tool: Tool, args: Mapping[str, Any]) -> Answer | None:
    """A person's no to the same call, made as another step: it is not asked again."""
    mark = call_mark(tool.name, args, tool.args_schema)
    same = (one for one in answers.values() if one.get("kind") == "approval" and one["call"] == mark)
    return next((one for one in same if one["type"] == "reject"), None)


def fitting(said: Any, schema: Any) -> Any:
    """What was said; a text that fits a schema only when it is read as JSON is read so, since a form has only texts."""
    if schema and isinstance(said, str) and misfit(said, schema):
        with suppress(ValueError):
            if not misfit(read := plain(from_json(said)), schema):
                return read
    return said


def _plain_word(answer: Mapping[str, Any], request: Request) -> Answer:
    if answer.get("args") or answer.get("edited_action"):
        raise InputError(f"the answer has other arguments, but its type is {answer['type']!r}; right would be 'edit'")
    schema = request.get("output_schema")
    if "output" in answer and schema and (why := misfit(answer["output"], schema)):
        name = request["action_requests"][0]["name"]
        raise InputError(f"output {shorten(answer['output'])} is no result of {name}: {why}")
    return {key: answer[key] for key in ("type", "message", "output") if key in answer}


def _said(answer: Mapping[str, Any], request: Request) -> Any:
    if "message" not in answer or answer["message"] in (None, ""):
        raise InputError(f"the answer says nothing; right would be {_RIGHT['respond']}")
    schema = request.get("answer_schema")
    value = fitting(answer["message"], schema)
    if schema and (why := misfit(value, schema)):
        raise InputError(f"message {shorten(value)} does not fit what is asked for: {why}")
    if request["kind"] in ("approval", "plan") and not isinstance(value, str):
        raise InputError(f"message {shorten(value)} is no text")
    return value


def _edited(answer: Mapping[str, Any], request: Request) -> dict[str, Any]:
    action = answer.get("edited_action") or {"args": answer.get("args")}
    name = request["action_requests"][0]["name"]
    if not isinstance(action, Mapping):
        raise InputError(f'edited_action is {shorten(action)}; right would be {{"name": {name!r}, "args": {{...}}}}')
    if action.get("name", name) != name:
        raise InputError(f"an edit may change the arguments of {name!r}, not the tool (got {action['name']!r})")
    if not isinstance(action.get("args"), Mapping):
        where = "edited_action.args" if "edited_action" in answer else "args"
        there = shorten(canonical(action["args"])) if action.get("args") is not None else "missing"
        raise InputError(f"an edit needs the new arguments: {where} is {there}; right would be {_RIGHT['edit']}")
    return dict(action["args"])


_READERS: dict[str, Callable[[Mapping[str, Any], Request], Answer]] = {
    "respond": lambda answer, request: {"type": "respond", "value": _said(answer, request)},
    "edit": lambda answer, request: {"type": "edit", "args": _edited(answer, request)},
}


def answer_form(request: Request) -> dict[str, Any]:
    """JSON Schema of the answers that a request takes, for forms; definitions of its parts stand at its top."""
    [review], [action] = request["review_configs"], request["action_requests"]
    defs: dict[str, Any] = {}
    args = _lifted(review.get("args_schema", {"type": "object"}), defs)
    said = _lifted(request.get("answer_schema", {"type": "string", "minLength": 1}), defs)
    edited = _object({"name": {"const": action["name"]}, "args": args}, "name", "args")
    more: dict[str, dict[str, Any]] = {"edit": {"edited_action": edited}, "respond": {"message": said}}
    words = {"message": {"type": "string"}}
    ways = [
        _object({"type": {"const": word}, **more.get(word, words)}, "type", *more.get(word, ()))
        for word in review["allowed_decisions"]
    ]
    decisions = {"type": "array", "items": {"oneOf": ways}, "minItems": 1, "maxItems": 1}
    return {**_object({"decisions": decisions}, "decisions"), **({"$defs": defs} if defs else {})}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _lifted(schema: Mapping[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """A schema without its definitions, which references look for at the top of the whole."""
    defs.update(schema.get("$defs", {}))
    return {key: value for key, value in schema.items() if key != "$defs"}
