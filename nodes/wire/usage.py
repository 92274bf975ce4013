"""What a server says that a reply used; what it does not say is unknown, and not zero."""

import math
from collections.abc import Mapping
from typing import Any

from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata


def usage_of(usage: Mapping[str, Any]) -> UsageMetadata | None:
    """Tokens in the form of LangChain, or None where in or out is not known."""
    spent = _count(usage, "prompt_tokens", "input_tokens")
    made = _count(usage, "completion_tokens", "output_tokens")
    total = _count(usage, "total_tokens")
    if made is None and spent is not None and total is not None:
        made = total - spent
    if spent is None or made is None or made < 0:
        return None
    used = UsageMetadata(input_tokens=spent, output_tokens=made, total_tokens=spent + made)
    if (cached := _cached(usage)) is not None:
        used["input_token_details"] = InputTokenDetails(cache_read=cached)
    if (
        thought := _count(_map(usage, "completion_tokens_details", "output_tokens_details"), "reasoning_tokens")
    ) is None:
        thought = _count(usage, "reasoning_tokens")
    if thought is not None:
        used["output_token_details"] = OutputTokenDetails(reasoning=thought)
    return used


def _cached(usage: Mapping[str, Any]) -> int | None:
    details = _map(usage, "prompt_tokens_details", "input_tokens_details")
    if (cached := _count(details, "cached_tokens", "cache_read")) is not None:
        return cached
    return _count(usage, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")


def _map(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((usage[name] for name in names if isinstance(usage.get(name), Mapping)), {})


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            return int(value)
    return None
