"""Adds every request to a model and its reply to a file, one JSON object a line, without keys."""

import asyncio
import json
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages, message_to_dict

from nodes.failures import classify, one_line, retry_after, status_of
from nodes.models import name_of
from nodes.run import Run
from state.errors import InputError

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_SECRET = re.compile(
    r"\b(sk|pk|gsk|xai|hf|ghp|AIza)[-_][A-Za-z0-9_-]{16,}|(?<=Bearer )\S{8,}|(?<=://)[^\s/@:\"]+:[^\s/@\"]+(?=@)"
)
_lock = threading.Lock()


@dataclass
class Kept:
    """The reply, once it is there."""

    reply: Any = None


@asynccontextmanager
async def record(run: Run, role: str, model: Any, messages: Sequence[BaseMessage], rung: str) -> AsyncIterator[Kept]:
    """Around one request: what is asked, and the reply or the error that came."""
    kept = Kept()
    if run.context.record is None:
        yield kept
        return
    entry: dict[str, Any] = {"run": run.request["id"], "at": time.time(), "role": role}
    entry |= {"model": name_of(model), "rung": rung}
    entry["request"] = request_of(messages, getattr(model, "kwargs", {}))
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
        entry["seconds"] = round(time.time() - entry["at"], 3)
        if "reply" in entry or "error" in entry:  # neither: somebody has cancelled the run
            await asyncio.to_thread(_append, Path(run.context.record), entry)


def request_of(messages: Sequence[BaseMessage], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A request in the same form for every model."""
    asked: dict[str, Any] = {"messages": convert_to_openai_messages(list(messages))}
    for name, value in settings.items():
        if name == "tool_choice" and isinstance(value, Mapping):
            value = value.get("function", {}).get("name")
        if value is not None:
            asked[name] = value
    return dict(json.loads(without_keys(json.dumps(asked, ensure_ascii=False, default=str))))


def without_keys(text: str) -> str:
    """The text without the secrets of the environment, and without what looks like one."""
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper()) and len(value) >= 8}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***").replace(json.dumps(value)[1:-1], "***")
    return _SECRET.sub("***", text)


def _append(file: Path, entry: dict[str, Any]) -> None:
    line = without_keys(json.dumps(entry, ensure_ascii=False, default=str))
    try:
        with _lock:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8", errors="replace") as lines:
                lines.write(f"{line}\n")
    except OSError as error:
        raise InputError(f"record: {str(file)!r} can't be written: {error.strerror or error}") from error
