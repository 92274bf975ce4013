"""Where lessons are kept: LangGraph's store, a namespace for each tenant; a vector of a text is kept beside them."""

from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any
from urllib.parse import quote

from langgraph.store.base import BaseStore, GetOp

from state.lesson import Lesson, bounded, lesson_in
from state.plan import digest

ROOT = ("forethought", "lessons")
_VECTORS = ("forethought", "vectors")
_PAGE = 200


def namespace(tenant: str) -> tuple[str, ...]:
    """Where the lessons of a tenant are; LangGraph allows no dot in a label, and no empty one."""
    return (*ROOT, _label(f"={tenant}"))


async def lessons_in(store: BaseStore, tenant: str | None = None) -> list[Lesson]:
    """The lessons of a tenant, or of all; what is not a lesson is passed over."""
    place = ROOT if tenant is None else namespace(tenant)
    found = [lesson async for lesson in _every(store, place)]
    # some stores look for names that begin so
    return [one for one in found if tenant is None or one["scope"]["tenant"] == tenant]


async def _every(store: BaseStore, place: tuple[str, ...]) -> AsyncIterator[Lesson]:
    at = 0
    while page := await store.asearch(place, limit=_PAGE, offset=at):
        for item in page:
            if (lesson := lesson_in(item.value)) is not None:
                yield lesson
        at += len(page)


async def lesson_of(store: BaseStore, tenant: str, name: str) -> Lesson | None:
    """The lesson with an id."""
    item = await store.aget(namespace(tenant), name)
    return lesson_in(item.value) if item else None


async def keep_lesson(store: BaseStore, lesson: Lesson) -> None:
    """Adds or replaces a lesson."""
    await store.aput(namespace(lesson["scope"]["tenant"]), lesson["id"], dict(bounded(lesson)), index=False)


async def forget_lesson(store: BaseStore, lesson: Lesson) -> None:
    """Takes a lesson out of the store."""
    await store.adelete(namespace(lesson["scope"]["tenant"]), lesson["id"])


async def vectors_in(store: BaseStore, model: str, texts: Collection[str]) -> dict[str, list[float]]:
    """The vectors that are known, by their texts."""
    place = (*_VECTORS, _label(model))
    items = await store.abatch([GetOp(place, digest(text), refresh_ttl=False) for text in texts])
    return {text: item.value["vector"] for text, item in zip(texts, items, strict=True) if item}  # type: ignore[union-attr]


async def keep_vectors(store: BaseStore, model: str, vectors: Mapping[str, list[float]]) -> None:
    """Adds vectors; a text stands there only as a fingerprint."""
    for text, vector in vectors.items():
        await store.aput((*_VECTORS, _label(model)), digest(text), {"vector": vector}, index=False)


def _label(text: str) -> Any:
    return quote(text, safe="=").replace(".", "%2E")
