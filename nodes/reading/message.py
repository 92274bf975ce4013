"""Reads one message of a model: its parts in order, each by the module that knows it."""

from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from nodes.reading.arguments import same_name
from nodes.reading.harmony import is_harmony, read_channels
from nodes.reading.native import native_calls
from nodes.reading.objects import object_in
from nodes.reading.parts import parts_of
from nodes.reading.record import Call, Reading
from nodes.reading.thinking import set_aside
from nodes.reading.values import same
from nodes.reading.written import calls_in

_EMPTY = "the reply is empty"
_FINISH = ("finish_reason", "stop_reason", "done_reason")


def read_message(message: AIMessage) -> Reading:
    """Takes a reply apart; never raises."""
    parts = parts_of(message)
    finish = next((str(found) for key in _FINISH if (found := message.response_metadata.get(key))), None)
    native = native_calls(message, cut=Reading("", finish=finish).cut)
    read = read_text(parts.text, with_calls=not (native or parts.calls))
    whole = replace(
        read,
        reasoning="\n".join(filter(None, (parts.reasoning, read.reasoning))),
        calls=(*native, *parts.calls, *read.calls),
        finish=finish,
        refusal=parts.refusal,
        raw=parts.raw or _shown(native),
    )
    return _judged(whole, "" if read.problem == _EMPTY else read.problem)


def read_text(text: str, *, with_calls: bool = True) -> Reading:
    """The same for a text alone."""
    if is_harmony(text):
        channels = read_channels(text)
        visible = "\n".join(filter(None, channels.text))
        found = Reading(visible, "\n".join(filter(None, channels.reasoning)), tuple(channels.calls), raw=text)
        return _judged(replace(found, visible=visible), "")
    parted = set_aside(text)
    written = calls_in(parted.visible) if with_calls else None
    rest = written.rest if written else parted.visible
    visible = rest if written and written.marked else parted.visible
    read = Reading(rest.strip(), parted.reasoning, written.calls if written else (), raw=text, visible=visible)
    problem = "only reasoning, no answer: its tag is never closed" if parted.open and not parted.visible.strip() else ""
    return _judged(read, problem)


def value_of(reading: Reading, name: str) -> dict[str, Any]:
    """The object of a typed reply: the arguments of the call `name`, else the one JSON object in the text.

    Raises `ValueError` with one sentence where there is none, it is cut, or there are two that differ.
    """
    calls = [call for call in reading.calls if same_name(call.name, name)]
    if calls:
        return _agreed(calls, name)
    if reading.problem and (reading.refusal or not reading.visible.strip() or reading.filtered):
        raise ValueError(reading.problem)
    if reading.visible.strip():
        return object_in(reading.visible)
    called = ", ".join(repr(call.name) for call in reading.calls)
    raise ValueError(reading.problem or (f"called {called} instead of {name!r}" if called else _EMPTY))


def _agreed(calls: list[Call], name: str) -> dict[str, Any]:
    """The arguments of the calls, which must be readable and the same."""
    for call in calls:
        if call.args is None:
            raise ValueError(call.problem)
    if not all(same(call.args, calls[0].args) for call in calls):
        raise ValueError(f"{name!r} was called more than once, with arguments that differ")
    return calls[0].args or {}


def _judged(reading: Reading, before: str) -> Reading:
    """The reading with its problem; a text beside a problem is no answer."""
    problem = _problem(reading, before)
    return replace(reading, problem=problem, text="" if problem else reading.text)


def _problem(reading: Reading, before: str) -> str:
    """Why there is neither a text nor a call to use; the first reason that holds."""
    if reading.refusal:
        return f"the model refused: {' '.join(reading.refusal.split())[:300]}"
    if reading.filtered:
        return f"the reply ended early (finish_reason {reading.finish})"
    if any(call.args is not None for call in reading.calls) or (reading.text and not reading.calls):
        return ""
    if reading.cut:
        return f"the reply ended early (finish_reason {reading.finish})"
    if reading.calls:
        return reading.calls[0].problem
    return before or ("only reasoning, no answer" if reading.reasoning else _EMPTY)


def _shown(calls: tuple[Call, ...]) -> str:
    return "\n".join(call.raw for call in calls)
