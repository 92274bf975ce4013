"""Answers to the open questions of a paused run: from options, or from a person at a terminal."""

import sys
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from graphs._words import as_json, one_line, visible
from state.errors import InputError, shorten
from state.json_text import from_json, no_number

Answer = dict[str, Any]
_SHOWN = 4000
"""Characters of one argument that are shown before a person is asked."""
RIGHT = "ID=approve, ID=reject, ID=reject:why, ID=edit:{...} or ID=respond:TEXT"
_YES_TO = ("approval", "plan")
_KEYS = {"respond": "p"}
"""The key for a way to answer, where it is not its first letter."""


@dataclass
class Answers:
    """Where answers come from, in this order: given by id, `yes` to every plan and write, a person."""

    given: dict[str, Answer] = field(default_factory=dict)
    yes: bool = False
    ask: Callable[[Mapping[str, Any]], Answer | None] | None = None
    _used: set[str] = field(default_factory=set)
    _left: set[str] = field(default_factory=set)
    """Questions that a person left open: nobody is asked twice in one go."""

    def to(self, interrupts: list[Any]) -> dict[str, Any]:
        """The answers by interrupt id, in the form that a pattern takes; a question without one stays open."""
        found: dict[str, Any] = {}
        for interrupt in interrupts:
            question = interrupt.value
            if isinstance(question, Mapping) and "action_requests" in question and (answer := self._one(question)):
                found[interrupt.id] = {"decisions": [answer]}
        return found

    def check(self, interrupts: list[Any]) -> None:
        """Raises `InputError` where an answer was given to a question that nobody asks, or that doesn't allow it."""
        asked = {interrupt.value["id"]: interrupt.value for interrupt in interrupts}
        for name, answer in self.given.items():
            if name not in asked:
                raise InputError(f"nobody asks {shorten(name)!r}; open are: {', '.join(asked) or 'no questions'}")
            if answer["type"] not in (allowed := _allowed(asked[name])):
                raise InputError(f"{answer['type']} is no answer to {name}; it takes: {', '.join(allowed)}")

    def _one(self, question: Mapping[str, Any]) -> Answer | None:
        name = question["id"]
        if name in self.given:
            return self.given.pop(name)
        if self.yes and question["kind"] in _YES_TO and name not in self._used:
            self._used.add(name)
            return {"type": "approve", "by": "--yes"}
        answer = self.ask(question) if self.ask and name not in self._left else None
        if answer is None:
            self._left.add(name)
        return answer


def read_answers(texts: list[str]) -> dict[str, Answer]:
    """Answers as they are written after --answer."""
    return dict(map(_read, texts))


def _read(text: str) -> tuple[str, Answer]:
    name, _, said = text.partition("=")
    kind, _, more = said.partition(":")
    if not name or kind not in _ways or (kind == "approve" and more) or (kind == "respond" and not more):
        raise InputError(f"--answer {shorten(text)!r} can't be read; right would be {RIGHT}")
    if kind == "edit":
        return name, _edit(json_object(more, f"--answer {name}=edit:"))
    return name, {"type": kind, "message": more} if more else {"type": kind}


def json_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object, or an `InputError` that says where it breaks."""
    try:
        value = from_json(text, numbers=no_number)
    except ValueError as error:
        raise InputError(f"{what}: {shorten(text)!r} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f'{what}: {shorten(value)} is a {type(value).__name__}; right would be {{"name": value}}')
    return value


def _edit(args: dict[str, Any]) -> Answer:
    return {"type": "edit", "args": args}


def _allowed(question: Mapping[str, Any]) -> list[str]:
    return list(question["review_configs"][0]["allowed_decisions"])


def person_at(console: Console) -> Callable[[Mapping[str, Any]], Answer | None]:
    """Asks at the terminal, with the tool and its arguments in sight."""

    def ask(question: Mapping[str, Any]) -> Answer | None:
        console.print(_question(question), soft_wrap=True)
        allowed = _allowed(question)
        _forget_keys()
        choice = ", ".join(map(_with_key, allowed))
        while (said := _line(console, f"{choice}, [l]eave open: ")) is not None:
            word = _chosen(said.lower(), [*allowed, "leave"])
            if word == "leave":
                return None
            if word and (answer := _ways[word](console)):
                return answer
            console.print(f"{visible(said)!r} is not one of {', '.join(allowed)}, leave" if not word else "")
        return None

    return ask


def _with_key(word: str) -> str:
    key = _KEYS.get(word, word[0])
    before, _, after = word.partition(key)
    return f"{before}[{key}]{after}"


def _chosen(said: str, words: list[str]) -> str | None:
    """The way that was chosen, by its key or by how its name begins."""
    by_key = {_KEYS.get(word, word[0]): word for word in words}
    return by_key.get(said) or next((word for word in words if said and word.startswith(said)), None)


def _question(question: Mapping[str, Any]) -> str:
    action = question["action_requests"][0]
    head = "\n" + ": ".join(filter(None, [question["step"], action["description"]]))
    problem = [f"(the last answer did not do: {question['problem']})"] if question.get("problem") else []
    return visible("\n".join([head, *problem, *_details(question["kind"], action)]))


def _details(kind: str, action: Mapping[str, Any]) -> list[str]:
    """What it is about: a call with its arguments, or a plan step by step."""
    args = dict(action["args"])
    if kind != "plan":
        return [f"  {action['name']}", *(f"  {name} = {_shown(value)}" for name, value in args.items())]
    steps = [f"  {one['id']}: {one['tool']} {_shown(one['args'])}" for one in args.pop("steps")]
    change = [f"  {name}: {', '.join(ids)}" for name, ids in args.get("change", {}).items() if ids]
    return [f"  goal: {args['goal']}", *steps, *change]


def _shown(value: Any) -> str:
    text = as_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters, the rest is not shown)"


def _edited(console: Console) -> Answer | None:
    line = _line(console, 'all arguments (of a plan: {"steps": [...]}) as one line of JSON: ')
    try:
        return _edit(json_object(line, "arguments")) if line else None
    except InputError as error:
        console.print(one_line(error))
        return None


def _rejected(console: Console) -> Answer:
    why = _line(console, "why (may stay empty): ")
    return {"type": "reject", "message": why} if why else {"type": "reject"}


def _responded(console: Console) -> Answer | None:
    said = _line(console, "answer (text or JSON): ")
    return {"type": "respond", "message": said} if said else None


_ways: dict[str, Callable[[Console], Answer | None]] = {
    "approve": lambda console: {"type": "approve"}, "edit": _edited, "reject": _rejected,
    "respond": _responded,
}  # fmt: skip


def _forget_keys() -> None:
    """What was typed before a question was there is no answer to it."""
    with suppress(OSError, ValueError, termios.error):  # where it is no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _line(console: Console, words: str) -> str | None:
    """One line from the terminal; None when there is no more."""
    console.file.write(words)
    console.file.flush()
    line = sys.stdin.readline()
    return line.strip() if line else None
