"""Lessons looked at and decided on: the bodies of `forethought lessons`, but for drafting."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

from langgraph.store.base import BaseStore

from graphs._kept_lessons import lesson_store
from graphs._listing import print_columns
from graphs._options import settings_of
from graphs._saved import Home, home_of
from graphs._words import as_json, count, one_line, visible
from nodes.lesson_store import forget_lesson, keep_lesson, lessons_in
from state.context import make_context
from state.errors import InputError, shorten
from state.lesson import Lesson, Status, is_expired, turned

_HEAD = ("id", "status", "helped", "missed", "tenant", "until", "strategy")
_WAYS: dict[str, tuple[Status, tuple[str, ...]]] = {
    "approve": ("approved", ("draft",)),
    "on": ("approved", ("off", "expired")),
    "off": ("off", ("draft", "approved", "expired")),
}
"""What each command makes of a lesson, and of which."""


def show_all(tenant: str | None, as_lines_of_json: bool, more: list[str]) -> None:
    """Prints the lessons; --json gives a list."""
    home = home_of(settings_of(more=more))
    found = asyncio.run(_read(home, tenant))
    if as_lines_of_json:
        print(as_json(found, indent=2))
    elif found:
        print_columns([_HEAD, *(_cells(lesson) for lesson in found)])
    else:
        whose = f" of tenant {shorten(tenant)!r}" if tenant is not None else ""
        print(f"no lesson{whose} has been kept yet in {home}")


def show_one(name: str, as_lines_of_json: bool, more: list[str]) -> None:
    """Prints all about a lesson."""
    home = home_of(settings_of(more=more))
    [lesson] = _named([name], asyncio.run(_read(home)), home)
    print(as_json(lesson, indent=2) if as_lines_of_json else "\n".join(told(lesson)))


def turn(names: list[str], way: str, more: list[str], strategy: str = "") -> None:
    """Approves lessons, puts them off, or on again."""
    settings = settings_of(more=more)
    status, of = _WAYS[way]
    if strategy and len(names) > 1:
        raise InputError(f"--strategy is for one lesson, and {len(names)} are named")
    days = make_context(**settings).lesson_days
    expires = None if days is None else time.time() + days * 86400

    async def work(store: BaseStore, lesson: Lesson) -> str:
        if (now := status_of(lesson)) not in (*of, *(["approved"] if strategy else [])):  # other words for one in use
            raise InputError(f"lesson {lesson['id']} is {now}; {way} is for one that is {' or '.join(of)}")
        await keep_lesson(store, changed := turned(lesson, status, expires, strategy))
        return f"{lesson['id']}: {changed['status']}"

    asyncio.run(_each(home_of(settings), names, work))


def forget(names: list[str], more: list[str]) -> None:
    """Takes lessons out of the store."""

    async def work(store: BaseStore, lesson: Lesson) -> str:
        await forget_lesson(store, lesson)
        return f"{lesson['id']}: forgotten"

    asyncio.run(_each(home_of(settings_of(more=more)), names, work))


async def _each(home: Home, names: list[str], work: Any) -> None:
    async with lesson_store(home, make=False) as store:
        for lesson in _named(names, await lessons_in(store) if store else [], home):
            print(await work(store, lesson))


async def _read(home: Home, tenant: str | None = None) -> list[Lesson]:
    async with lesson_store(home, make=False) as store:
        found = await lessons_in(store, tenant) if store else []
    return sorted(found, key=lambda lesson: -lesson["created"])


def _named(names: list[str], found: Iterable[Lesson], home: Home) -> list[Lesson]:
    """The lessons of these names, each once; all are looked for before anything is done to one."""
    known = {lesson["id"]: lesson for lesson in found}
    for name in names:
        if name not in known:
            there = f"there are: {', '.join(list(known)[:10])}" if known else "there is none"
            raise InputError(f"there is no lesson {shorten(name)!r} in {home}; {there}")
    return [known[name] for name in dict.fromkeys(names)]


def status_of(lesson: Lesson) -> str:
    """As it counts now."""
    return "expired" if lesson["status"] == "approved" and is_expired(lesson, time.time()) else lesson["status"]


def _cells(lesson: Lesson) -> tuple[str, ...]:
    tenant = one_line(lesson["scope"]["tenant"], 30) or "-"
    counts = (str(lesson["helps"]), str(lesson["misses"]))
    return (lesson["id"], status_of(lesson), *counts, tenant, _until(lesson), one_line(lesson["strategy"], 200))


def _until(lesson: Lesson) -> str:
    return "-" if lesson["expires"] is None else time.strftime("%Y-%m-%d", time.localtime(lesson["expires"]))


def told(lesson: Lesson) -> Iterable[str]:
    """A lesson in words."""
    scope, trigger, origin = lesson["scope"], lesson["trigger"], lesson["origin"]
    yield f"lesson {lesson['id']}: {status_of(lesson)}{', ' + lesson['note'] if lesson['note'] else ''}"
    yield from (f"{name}: {one_line(lesson[name], 500)}" for name in ("problem", "cause", "strategy"))
    yield from (f"when: {one_line(intent, 200)}" for intent in trigger["intents"])
    yield from (f"{name}: {one_line(trigger[name], 300)}" for name in ("error", "step") if trigger[name])
    bound = {**scope, "tools": ", ".join(scope["tools"]), "tags": ", ".join(scope["tags"])}
    kept_to = "; ".join(f"{name} {visible(value)}" for name, value in bound.items() if value)
    until = "" if lesson["expires"] is None else f"; until {_until(lesson)}"
    yield f"for: {kept_to or 'every run'}{until}"
    runs = ", ".join(map(visible, origin["runs"]))
    yield (
        f"from: {origin['pattern']}, attempt {origin['attempt']} of run {runs}"
        if origin["attempt"]
        else f"from: failed {runs}"
    )
    where = f" ({', '.join(lesson['helped'])})" if lesson["helped"] else ""
    yield f"helped in {count(lesson['helps'], 'run')}{where}, did not help in {lesson['misses']}"
