"""Two versions of a plan side by side: what was kept, changed, added and dropped, in words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from rich.table import Table
from rich.text import Text

from graphs._drawing import state_of
from graphs._summary import worth
from graphs._words import as_json, one_line, visible
from nodes.drafting import difference
from state.plan import Plan, Step
from state.result import Result

_SILENT = ("id", "version", "produces")
_STYLES = {"kept": "dim", "changed": "yellow", "added": "green", "dropped": "red"}


@dataclass(frozen=True)
class Row:
    """One step in both versions: what happened to it, and what each says of it; empty where it isn't there."""

    change: str
    before: str
    after: str


def compared(old: Plan, new: Plan, results: Mapping[str, Result]) -> list[Row]:
    """The steps of the newer version in its order, then those that were dropped."""
    change = difference(old, [], new["steps"])
    was = {step["id"]: step for step in old["steps"]}
    rows = []
    for step in new["steps"]:
        before = was.get(step["id"]) or was.get(step["id"].rpartition("_v")[0])
        came = f" [{state_of(results[step['id']])}]" if step["id"] in results else ""
        if before is None or step["id"] in change["added"]:
            rows.append(Row("added", "", _said(step) + came))
        elif step["id"] in change["changed"]:
            rows.append(Row("changed", _said(before, step), _said(step, before) + came))
        else:
            rows.append(Row("kept", _said(before), _said(step) + came))
    return [*rows, *(Row("dropped", _said(was[name]), "") for name in change["dropped"])]


def headline(plan: Plan) -> str:
    """Number, author, value and reason of a version."""
    return f"plan {plan['version']} by {plan['by']}{worth(plan)}: {one_line(plan['reason'] or plan['goal'])}"


def pairs(plans: list[Plan]) -> Iterable[tuple[Plan, Plan]]:
    """Each version with the one before it."""
    return pairwise(plans)


def side_by_side(old: Plan, new: Plan, results: Mapping[str, Result]) -> Table:
    """For a terminal of any width."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in ("", headline(old), headline(new)):
        table.add_column(Text(visible(head)), overflow="fold", ratio=1 if head else None)
    for row in compared(old, new, results):
        table.add_row(Text(row.change, _STYLES[row.change]), Text(row.before), Text(row.after))
    return table


def _said(step: Step, other: Step | None = None) -> str:
    """What a step does; beside `other` only where it differs."""
    head = f"{visible(step['id'])}: {visible(step['tool'])}"
    if other is None:
        return f"{head} {one_line(as_json(step['args']), 200)}{' [write]' if step['effect'] == 'write' else ''}"
    named = {name: step[name] for name in step if name not in _SILENT and step[name] != other[name]}  # type: ignore[literal-required]
    return "\n".join([head, *(f"  {name}: {one_line(as_json(value), 200)}" for name, value in named.items())])
