"""What a tool's own look-up says of a write whose outcome is not known."""

from dataclasses import dataclass
from typing import Any

from nodes.calls import Call
from nodes.failures import in_short
from nodes.run import Run
from state.plain import plain
from tools.bounded import asked


@dataclass(frozen=True)
class Open:
    """No look-up could say; `why` is empty where there is none."""

    why: str = ""


async def looked_up(planned: Call, run: Run, key: str) -> Any:
    """What the write did, None for nothing; `Open` where that can't be said."""
    tool = planned.tool
    if tool.lookup is None:
        return Open()
    try:
        found = await asked(tool.lookup, planned.own_args, key, seconds=run.within(tool.timeout))
    except Exception as error:  # whatever is wrong with it, the write's outcome stays unknown
        return Open(in_short(error))
    return None if found is None else plain(found)
