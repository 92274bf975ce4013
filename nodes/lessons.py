"""Hands the lessons of earlier runs to who plans or reflects: those that fit where the run stands now.

Leaves out: how well one fits (`lesson_match.py`), and how a lesson is learned (`learning.py`).
"""

import asyncio
import math
import operator
from collections.abc import Mapping
from typing import Any

from langgraph.config import get_config
from langgraph.store.base import BaseStore

from nodes.failures import one_line
from nodes.lesson_match import Situation, fitting, situations, texts_of
from nodes.lesson_store import keep_vectors, lessons_in, vectors_in
from nodes.likeness import Alike, alike
from nodes.recording import note
from nodes.run import Run
from nodes.sending import embed
from state.clock import now
from state.errors import BudgetSpent, ModelFailed, shorten
from state.lesson import LONGEST_INTENT, Lesson, Scope, ToldLesson, is_for, is_live
from state.masking import without_keys


async def recall(state: Mapping[str, Any], run: Run, role: str) -> None:
    """Adds to `run.lessons`, what this run was told before, what fits now."""
    what = f"lessons {role} {len(state['plans'])} {len(state['reflections'])} {len(state.get('thoughts') or ())}"
    if run.replay:
        told: list[ToldLesson] = run.replay.fact(what) or []
    elif run.store is None or run.context.lessons == "off" or run.context.models_of(role) == ["offline"]:
        return
    else:
        told = await _told(state, run, role, run.store)
        await note(run, fact=what, value=told)
    if told:
        run.event("lessons", reason=told[0]["strategy"], evidence=[one["id"] for one in told], next=role)
    run.lessons |= {one["id"]: _again(one, run.lessons.get(one["id"])) for one in told}


async def _told(state: Mapping[str, Any], run: Run, role: str, store: BaseStore) -> list[ToldLesson]:
    """A store that can't be read is an event; the run goes on without."""
    try:
        found = await lessons_in(store, tenant_of(run))
        here, stand = whose(run), situations(state, intent_of(run))
        usable = [one for one in found if is_live(one, now()) and is_for(one, here)]
        fits = (
            await asyncio.to_thread(fitting, usable, stand, await _measure(usable, stand, run, store)) if usable else []
        )
    except Exception as error:
        run.event("lessons_lost", reason=one_line(error), next="go on")
        return []
    return [_as_told(lesson, score, role) for lesson, score in fits]


def _as_told(lesson: Lesson, score: float, role: str) -> ToldLesson:
    return {
        "id": lesson["id"], "problem": lesson["problem"], "cause": lesson["cause"], "strategy": lesson["strategy"],
        "score": round(score, 3), "roles": [role], "outcome": "open",
    }  # fmt: skip


def _again(told: ToldLesson, before: ToldLesson | None) -> ToldLesson:
    if before is None:
        return told
    roles = list(dict.fromkeys([*before["roles"], *told["roles"]]))
    return {**told, "roles": roles, "score": max(told["score"], before["score"])}


async def _measure(lessons: list[Lesson], stand: list[Situation], run: Run, store: BaseStore) -> Alike:
    """By meaning where a model for it is set and answers, else by words."""
    if not run.context.embedder:
        return alike
    try:
        vectors = await _vectors(texts_of(lessons, []), texts_of([], stand), run.context.embedder, run, store)
    except (ModelFailed, BudgetSpent) as error:
        run.event("lessons_by_words", reason=one_line(error), next="go on")
        return alike
    return lambda one, other: cosine(vectors[one], vectors[other])


async def _vectors(kept: list[str], fresh: list[str], model: str, run: Run, store: BaseStore) -> dict[str, list[float]]:
    """Vectors of all texts; those of lessons are asked for once."""
    known = await vectors_in(store, model, kept)
    lacking = [text for text in dict.fromkeys([*kept, *fresh]) if text not in known]
    new = dict(zip(lacking, await embed(lacking, run), strict=True))
    await keep_vectors(store, model, {text: new[text] for text in kept if text in new})
    return known | new


def cosine(one: list[float], other: list[float]) -> float:
    """0 to 1; what points away from each other is not alike."""
    size = math.hypot(*one) * math.hypot(*other)
    if len(one) != len(other) or not size or not math.isfinite(size):
        return 0.0
    product: float = sum(map(operator.mul, one, other))
    return min(1.0, max(0.0, product / size))


def intent_of(run: Run) -> str:
    """What a run wants, as it is compared and kept."""
    return without_keys(shorten(run.request["task"], LONGEST_INTENT))


def tenant_of(run: Run) -> str:
    """Whose lessons a run uses: the setting, else the constraint of that name."""
    return run.context.tenant or str(run.request["constraints"].get("tenant") or "")


def whose(run: Run) -> Scope:
    """What a lesson's scope is held against."""
    thread = get_config().get("configurable", {}).get("thread_id", "")
    return {
        "tenant": tenant_of(run), "thread": str(thread), "pattern": run.request["pattern"], "tools": [*run.tools],
        "tags": run.context.lesson_tags,
    }  # fmt: skip
