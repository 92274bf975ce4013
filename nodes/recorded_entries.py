"""Which entries of a recording a replay is to serve: not what was lost and done again, nor what was given up early."""

import json
from collections.abc import Mapping
from typing import Any

from nodes.replay import Entry


def entries_that_count(entries: list[Entry]) -> list[Entry]:
    """What happened in the run, as far as it became a part of it."""
    return _without_lost(_without_withdrawn(entries))


def _without_withdrawn(entries: list[Entry]) -> list[Entry]:
    """Leaves out steps that had begun before their plan was whole, and that it then did not hold: a replay waits."""
    kept: list[Entry] = []
    for entry in entries:
        if "withdrawn" in entry:
            kept = [one for one in kept if one.get("step") not in entry["withdrawn"]]
        else:
            kept.append(entry)
    return kept


def _without_lost(entries: list[Entry]) -> list[Entry]:
    """Leaves out what a process that was cut off had recorded and a later one did again."""
    ends = {entry.get("leg"): entry for entry in entries}
    done_later: set[str] = set()
    kept: list[Entry] = []
    leg, later = entries[-1].get("leg"), set[str]()
    for entry in reversed(entries):
        if entry.get("leg") != leg:
            leg, done_later = entry.get("leg"), done_later | later
            later = set()
        later.add(_key(entry))
        whole = bool({"end", "pause"} & ends[leg].keys())
        if whole or _key(entry) not in done_later:
            kept.append(entry)
    return kept[::-1]


def _key(entry: Mapping[str, Any]) -> str:
    asked = [entry.get(name) for name in ("fact", "answer", "role", "request", "step", "part", "tool", "args", "begin")]
    return json.dumps(asked, sort_keys=True, default=str)
