"""Vectors of texts as an OpenAI-compatible server gives them at /embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages.ai import UsageMetadata, add_usage

from nodes.wire.errors import bad_response, error_in
from nodes.wire.usage import usage_of
from state.json_text import from_json


@dataclass(frozen=True)
class Vectors:
    """A vector for each text, in the order of the texts, and what they used; None is unknown."""

    vectors: list[list[float]]
    usage_metadata: UsageMetadata | None


def vectors_of(text: str, count: int) -> Vectors:
    """Reads a reply; raises `WireError` where it does not hold one vector for each text."""
    try:
        body: Any = from_json(text)
        if isinstance(body, dict) and (error := error_in(body)):
            raise error
        found = {
            int(one.get("index", place)): [*map(float, one["embedding"])] for place, one in enumerate(body["data"])
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise bad_response(f"the reply holds no vectors: {type(error).__name__}: {error}") from error
    if sorted(found) != list(range(count)):
        raise bad_response(f"the reply holds {len(found)} vectors for {count} texts")
    usage = body.get("usage")
    return Vectors([found[place] for place in range(count)], usage_of(usage) if isinstance(usage, dict) else None)


def joined(parts: Sequence[Vectors]) -> Vectors:
    """All in one; what one part did not say is unknown."""
    used: UsageMetadata | None = parts[0].usage_metadata
    for part in parts[1:]:
        used = add_usage(used, part.usage_metadata) if used and part.usage_metadata else None
    return Vectors([vector for part in parts for vector in part.vectors], used)
