"""Conditions on a result. They may come from a model, and each may take its time, so long results get a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nodes.typed_args import is_small
from state.conditions import accept
from state.result import Check
from state.time_bound import at_most

AT_ONCE = 0.5
"""Seconds that all conditions on a short result may take together, where they hold up everything else."""


async def accepted(
    conditions: Sequence[str], output: Any, given: Callable[[], Awaitable[Mapping[str, Any]]], name: str = "output"
) -> list[Check]:
    """What each of them comes to; the caller's inputs are asked for only where there is one."""
    if not conditions:
        return []
    inputs = await given()

    def decide() -> list[Check]:
        return [accept(one, output, name, inputs) for one in conditions]

    if not is_small([output, inputs]):
        return await asyncio.to_thread(decide)
    with at_most(AT_ONCE):
        return decide()
