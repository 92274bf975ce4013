"""The key of a write in the journal: its tool's own, that of an undo, or what it does and which of equal ones it is."""

from typing import Any

from nodes.calls import Call
from nodes.failures import one_line
from nodes.run import Run
from state.errors import ToolFailed, shorten
from state.plan import canonical, digest
from tools.exact import exact


def write_key(planned: Call, run: Run, nth: int) -> str:
    """Request, tool, arguments, and which of several equal writes it is; or the tool's own business key."""
    if (own := business_key(planned)) is not None:
        return digest([planned.tool.name, own])
    if planned.key:
        return planned.key
    return digest([run.request["id"], planned.tool.name, canonical(exact(planned.args, planned.tool.args_schema)), nth])


def business_key(planned: Call) -> str | int | None:
    """The tool's own key for this write; None where it gives none. Raises `ToolFailed` for what can't be one."""
    if planned.tool.business_key is None:
        return None
    name = f"business_key of {planned.tool.name}"
    try:
        key: Any = planned.tool.business_key(planned.own_args)
    except Exception as error:
        raise ToolFailed(f"the {name} failed, so nothing was done: {one_line(error)}", "permanent") from error
    if key is None or (isinstance(key, str) and not key.strip()):
        return None
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise ToolFailed(f"the {name} gave {shorten(key)}; right would be a text, or None for none", "permanent")
    return key
