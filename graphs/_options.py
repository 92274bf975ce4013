"""From what stands on the command line to a task and the settings of a run; everything wrong is one line."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphs._prompting import json_object
from state.context import Context, env, make_context
from state.errors import InputError, offer, shorten
from state.json_text import from_json
from state.limits import Limits
from state.schemas import schema_fault
from tools.given_file import as_text, text_of

_MOST = 4_000_000
"""Bytes that are read from a file or from standard input; a task takes far less."""


def task_text(given: str) -> str:
    """The task itself; `-` reads it from standard input."""
    if given != "-":
        return _clean(given, "the task")
    data = sys.stdin.buffer.read(_MOST + 1)
    return _clean(as_text(data, "standard input", _MOST), "the task")


def settings_of(
    *, limits: Sequence[str] = (), more: Sequence[str] = (), answer_schema: str | None = None, **named: Any
) -> dict[str, Any]:
    """Settings of a context that were given, checked; folders are made absolute, so that a resume finds them."""
    settings = {name: _filled(name, value) for name, value in named.items() if value is not None}
    for name, value in (_pair(text, "--set") for text in more):
        if name in settings:
            raise InputError(f"setting {name!r} is given twice")
        settings[name] = _setting(name, value)
    if limits:
        settings["limits"] = {**_plain_limits(settings.get("limits")), **dict(map(_limit, limits))}
    if answer_schema is not None:
        settings["answer_schema"] = _schema(answer_schema)
    for name in ("root", "documents", "workflows"):
        if name in settings:
            settings[name] = _folder(name, settings[name])
    if isinstance(settings.get("plan"), str):
        settings["plan"] = str(Path(settings["plan"]).expanduser().absolute())
    make_context(**settings)
    return settings


def pinned(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with what folder and environment bring, so that a resume elsewhere goes on with the same."""
    context = Context(**settings)
    model = context.model or env("LLM_MODEL_ID", "OPENAI_MODEL") or "offline"
    found: dict[str, Any] = {"root": str(Path.cwd()), "model": model}
    if url := context.base_url or env("LLM_BASE_URL", "OPENAI_BASE_URL"):
        found["base_url"] = url
    return {**found, **settings}


def inputs_of(text: str | None) -> dict[str, Any]:
    """Values that the task may use by name: JSON, or @ and the name of a file with JSON."""
    return {} if text is None else json_object(text_or_file(text, "--inputs"), "--inputs")


def constraints_of(texts: list[str]) -> Any:
    """What must hold throughout: sentences, and JSON objects such as {"read_only": true}."""
    if not any(text.lstrip().startswith("{") for text in texts):
        return texts or None
    words = [text for text in texts if not text.lstrip().startswith("{")]
    keys: dict[str, Any] = {"words": words} if words else {}
    for text in texts:
        if text not in words:
            keys.update(json_object(text, "--constraints"))
    return keys


def text_or_file(text: str, what: str) -> str:
    """The text, or what stands in the file that it names after an @."""
    if not text.startswith("@"):
        return text
    return text_of(text[1:], f"{what}: {text[1:]!r}", _MOST)


def _clean(text: str, what: str) -> str:
    if "\0" in text:
        raise InputError(f"{what} holds a NUL character, at character {text.index(chr(0))}")
    return text


def _filled(name: str, value: Any) -> Any:
    if value == "":
        raise InputError(f"{name} is empty; leave the option out, or give a value")
    return value


def _pair(text: str, what: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f"{what} {shorten(text)!r} can't be read; right would be {what} name=value")
    return name, value


def _limit(text: str) -> tuple[str, Any]:
    name, value = _pair(text, "--limit")
    if name not in Limits.model_fields:
        raise InputError(f"there is no limit {shorten(name)!r}; {offer(name, Limits.model_fields)}")
    return name, None if value.lower() == "none" else value


def _plain_limits(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _setting(name: str, text: str) -> Any:
    """The value as the context takes it: as it stands, else as JSON, else as a list with commas."""
    readings: list[Any] = [text]
    try:
        readings.append(from_json(text))
    except ValueError:
        readings.append([part.strip() for part in text.split(",")])
    wrong: list[InputError] = []
    for reading in readings:
        try:
            make_context(**{name: reading})
        except InputError as error:
            wrong.append(error)
        else:
            return reading
    raise wrong[1 if isinstance(readings[1], dict) else 0]


def _schema(text: str) -> dict[str, Any]:
    schema = json_object(text_or_file(text, "--answer-schema"), "--answer-schema")
    if why := schema_fault(schema):
        raise InputError(f"--answer-schema is no JSON Schema that can be used: {why}")
    return schema


def _folder(name: str, value: Any) -> str:
    folder = Path(str(value)).expanduser()
    if not folder.is_dir():
        raise InputError(f"{name}: there is no folder {shorten(str(value))!r}")
    return str(folder.resolve())
