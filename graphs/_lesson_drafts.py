"""`forethought lessons draft`: failed runs are read from what is kept, lessons drafted, and a person asked."""

import asyncio
import sys
import time
import uuid
from collections import Counter
from typing import Any

import typer

from graphs import load
from graphs._kept_lessons import lesson_store
from graphs._lessons import told, turn
from graphs._options import settings_of
from graphs._saved import Home, home_of, saver, settings_in, threads
from graphs._words import as_json, count, one_line
from nodes.intake import language_of
from nodes.lesson_drafts import draft_by_model, draft_by_rules, groups, is_known
from nodes.lesson_sources import ONCE, Failed, failures_of, has_failed, once_away
from nodes.lesson_store import keep_lesson, lessons_in
from nodes.meter import Meter
from nodes.models import check_models
from nodes.run import Run
from state.context import Context, make_context
from state.errors import BudgetSpent, ModelFailed
from state.lesson import Lesson
from state.request import Request
from state.usage import no_usage
from tools.catalogue import Catalogue


def draft(limit: int, options: dict[str, Any], *, as_lines_of_json: bool, prompts: bool) -> None:
    """Drafts, prints what is new, and asks about it where somebody is there to be asked."""
    settings = settings_of(**options)
    context = make_context(**settings)
    check_models(context)
    drafted, failed, passed_over = asyncio.run(_draft(home_of(settings), limit, context))
    told_over = [f"passed over: {count(times, 'run')}: {why}" for why, times in passed_over.most_common()]
    if as_lines_of_json:
        print(as_json(drafted, indent=2))
        print(*told_over, sep="\n", end="\n" * bool(told_over), file=sys.stderr)
        return
    print(f"{count(failed, 'failed run')} read, {count(len(drafted), 'new draft')}", *told_over, sep="\n")
    asking = prompts and sys.stdin.isatty() and sys.stdout.isatty()
    for lesson in drafted:
        print("", *told(lesson), sep="\n")
        asking = asking and _ask(lesson, options["more"])
    if drafted and not asking:
        print("\nuse one: forethought lessons approve ID")


def _ask(lesson: Lesson, more: list[str]) -> bool:
    """Whether to go on asking."""
    try:
        if typer.confirm(f"use {lesson['id']} from now on?", default=False):
            turn([lesson["id"]], "approve", more)
    except typer.Abort:
        return False
    return True


async def _draft(home: Home, limit: int, context: Context) -> tuple[list[Lesson], int, Counter[str]]:
    """New drafts, how many runs had failed, and why how many of them were passed over."""
    runs = await _failed(home, limit)
    over = Counter(why for failed, why in runs if not failed)
    found = groups(one for failed, _ in runs for one in failed)
    over.update({ONCE: sum(map(once_away, found))} if any(map(once_away, found)) else {})
    found = [group for group in found if not once_away(group)]
    if not found:
        return [], len(runs), over
    async with lesson_store(home, make=True) as store:
        assert store is not None
        known = await lessons_in(store)
        new = [group for group in found if not is_known(group, known)]
        drafted = [await _worded(group, context) for group in new]
        for lesson in drafted:
            await keep_lesson(store, lesson)
    return drafted, len(runs), over


async def _failed(home: Home, limit: int) -> list[tuple[list[Failed], str]]:
    """The kept runs that failed, newest first: what a lesson can be drawn from, or why there is nothing."""
    found: list[tuple[list[Failed], str]] = []
    async with saver(home, make=False) as kept:
        for thread in [name async for name in threads(kept, limit)]:
            config: Any = {"configurable": {"thread_id": thread}}
            last = await kept.aget_tuple(config)
            if last is not None and (before := settings_in(last.metadata)):
                values = (await load(before["pattern"], checkpointer=kept).aget_state(config)).values
                request, report = values.get("request"), values.get("report")
                if request and report and has_failed(report):
                    found.append(failures_of(request, report))
    return found


async def _worded(group: list[Failed], context: Context) -> Lesson:
    """In the words of the reflector's model where there is one and it answers, else by rules."""
    if context.models_of("reflector") == ["offline"]:
        return draft_by_rules(group)
    try:
        return await draft_by_model(group, _run(group, context))
    except (ModelFailed, BudgetSpent) as error:
        print(f"drafted by rules: {one_line(error)}", file=sys.stderr)
        return draft_by_rules(group)


def _run(group: list[Failed], context: Context) -> Run:
    """What asking a model needs besides; nothing of it is kept."""
    language = language_of(group[0].intent) if context.language == "auto" else context.language
    request: Request = {
        "id": uuid.uuid4().hex, "task": group[0].intent, "inputs": {}, "pattern": group[0].pattern,
        "language": language, "constraints": {}, "settings": {},
        "started": time.time(), "earlier": [],
    }  # fmt: skip
    return Run(request, context, Meter(no_usage(), context.limits), Catalogue(), lambda _: None)
