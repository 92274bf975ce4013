"""The key of a write in the journal: its tool's own, that of an undo, or what it does and which of equal ones it is."""

from nodes.calls import Call
from nodes.claims import entry_of
from nodes.failures import classify, in_short
from nodes.run import Run
from state.errors import BudgetSpent, ToolFailed, shorten
from state.plain import plain
from state.plan import canonical, digest
from tools.bounded import asked
from tools.exact import exact

_BITS = 4096
"""Of a key that is a number: a longer one is none."""


async def write_key(planned: Call, run: Run, nth: int) -> str:
    """Request, tool, arguments, and which of several equal writes it is; or the tool's own business key."""
    if (own := await business_key(planned, run)) is not None:
        return digest([planned.tool.name, own])
    if planned.key:
        return planned.key
    return digest([run.request["id"], planned.tool.name, canonical(exact(planned.args, planned.tool.args_schema)), nth])


async def business_key(planned: Call, run: Run) -> str | int | None:
    """The tool's own key for this write; None where it gives none. Raises `ToolFailed` for what can't be one."""
    tool, name = planned.tool, f"business_key of {planned.tool.name}"
    if tool.business_key is None:
        return None
    try:
        key = await asked(tool.business_key, planned.own_args, seconds=run.within(tool.timeout))
    except Exception as error:
        if run.meter.remaining() == 0:
            raise run.meter.late() from error
        raise ToolFailed(f"the {name} failed, so nothing was done: {in_short(error)}", classify(error)) from error
    if key is None or (isinstance(key, str) and not key.strip()):
        return None
    if isinstance(key, bool) or not isinstance(key, str | int) or (isinstance(key, int) and key.bit_length() > _BITS):
        raise ToolFailed(f"the {name} gave {shorten(plain(key))}; right would be a text, or None for none", "permanent")
    return key


async def done_before(planned: Call, run: Run) -> str:
    """What a person is told who is asked about a write that the journal has as done; empty where it would be made."""
    try:
        key = await write_key(planned, run, await planned.nth())
    except (ToolFailed, BudgetSpent):
        return ""
    before = await entry_of(run, key)
    if before is None or before["state"] != "done":
        return ""
    return f"it was done already in step {before['step']}; approve does not repeat it and takes the result of then"
