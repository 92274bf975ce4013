"""Adds what a run exchanges with models, tools and people to a file, one JSON object a line, without keys.

Leaves out: how a recorded run is served back (`nodes/recorded.py`).
"""

import asyncio
import json
import os
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages, message_to_dict

from nodes.failures import classify, one_line, retry_after, status_of
from nodes.models import name_of
from state.errors import BudgetSpent, InputError
from state.json_text import from_json
from state.masking import without_keys

if TYPE_CHECKING:
    from nodes.calls import Call, Outcome
    from nodes.run import Run

_LEG = uuid.uuid4().hex[:8]
"""Tells what this process recorded from what an earlier one did that was cut off."""
_lock = threading.Lock()
_broken: set[str] = set()
"""Files that could not be written on: nothing more is added, since a recording with a gap would mislead."""


@dataclass
class Kept:
    """The reply, once it is there."""

    reply: Any = None


async def begin(run: "Run", **entry: Any) -> None:
    """The first line of a run; a file that can't be written is found here, before anything was done."""
    if not run.context.record and not run.context.debug:
        return
    _broken.discard(run.context.record or "")
    await _note(run, {"begin": entry})
    if run.context.record in _broken:
        raise InputError(f"record: {run.context.record!r} can't be written: {run.events.pop()['reason']}")


async def note(run: "Run", **entry: Any) -> None:
    """One more line; a file that can no longer be written is an event, and the run goes on."""
    if run.context.record or run.context.debug:
        await _note(run, entry)


async def remembered(run: "Run", what: str, find: Callable[[], Any]) -> Any:
    """What depends on the clock or on the state of this process; in a replay, what it was when it was recorded."""
    if run.replay:
        return run.replay.fact(what)
    found = find()
    if isawaitable(found):
        found = await found
    if found:
        await note(run, fact=what, value=found)
    return found


async def note_call(run: "Run", planned: "Call", outcome: "Outcome", began: float) -> None:
    """What a tool was asked, and what came of it in the end."""
    came = {one.name: getattr(outcome, one.name) for one in fields(outcome) if one.name != "args"}
    await note(run, **_asked(planned), outcome=came, seconds=round(time.time() - began, 3))


@asynccontextmanager
async def record_try(run: "Run", planned: "Call", attempt: int) -> AsyncIterator[None]:
    """Around one try of a tool: the failure of it, if it fails."""
    began = time.time()
    try:
        yield
    except BudgetSpent:
        raise
    except Exception as error:
        why = {"message": one_line(error), "class": classify(error)}
        await note(run, **_asked(planned), attempt=attempt, error=why, seconds=round(time.time() - began, 3))
        raise


def _asked(planned: "Call") -> dict[str, Any]:
    return {"tool": planned.tool.name, "step": planned.step["id"], "part": planned.part, "args": planned.args}


@asynccontextmanager
async def record(
    run: "Run", role: str, model: Any, messages: Sequence[BaseMessage], rung: str, step: str = ""
) -> AsyncIterator[Kept]:
    """Around one request to a model: what is asked, and the reply or the error that came."""
    kept = Kept()
    if not run.context.record and not run.context.debug:
        yield kept
        return
    entry: dict[str, Any] = {"role": role, "model": name_of(model), "rung": rung, "step": step}
    entry["request"], began = request_of(messages, getattr(model, "kwargs", {})), time.time()
    try:
        yield kept
    except Exception as error:
        entry["error"] = {
            "message": one_line(error), "class": classify(error), "status": status_of(error),
            "retry_after": retry_after(error), "may_retry": getattr(error, "may_retry", True),
        }  # fmt: skip
        raise
    else:
        entry["reply"] = message_to_dict(kept.reply) if isinstance(kept.reply, AIMessage) else str(kept.reply)
    finally:
        entry["seconds"] = round(time.time() - began, 3)
        if "reply" in entry or "error" in entry:  # neither: somebody has cancelled the run
            await _note(run, entry)


async def _note(run: "Run", entry: dict[str, Any]) -> None:
    line = {"run": run.request["id"], "leg": _LEG, "at": time.time(), **entry}
    if run.context.debug:
        run.write({"exchange": redacted(line)})
    if (file := run.context.record) and (why := await asyncio.to_thread(_append, file, line)):
        run.event("recording_lost", reason=why, evidence=[file], next="go on")


def request_of(messages: Sequence[BaseMessage], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A request in the same form for every model."""
    asked: dict[str, Any] = {"messages": convert_to_openai_messages(list(messages))}
    for name, value in settings.items():
        if name == "tool_choice" and isinstance(value, Mapping):
            value = value.get("function", {}).get("name")
        if value is not None:
            asked[name] = value
    return dict(redacted(asked))


def redacted(value: Any) -> Any:
    """A JSON value as it stands in a recording."""
    return from_json(without_keys(json.dumps(value, ensure_ascii=False, default=str)))


def _append(file: str, entry: dict[str, Any]) -> str:
    """Adds a line; gives what is wrong the first time that a file can't be written."""
    line = without_keys(json.dumps(entry, ensure_ascii=False, default=str))
    with _lock:
        if file in _broken:
            return ""
        try:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            with Path(file).open("ab+") as lines:
                if lines.tell() and lines.seek(-1, os.SEEK_END) is not None and lines.read(1) != b"\n":
                    lines.write(b"\n")  # half a line, left by a process that was killed
                lines.write(f"{line}\n".encode(errors="replace"))
        except OSError as error:
            _broken.add(file)
            return str(error.strerror or error)
    return ""
