"""The versions of a plan: what each is, how it differs from the others, and how it is drawn."""

from collections.abc import Iterable
from dataclasses import asdict
from itertools import combinations
from typing import Any

from graphs._versions import compared, headline, pairs
from graphs._watch import Watch
from nodes.drafting import difference
from page.graph import graph_of
from state.plan import Plan

_EVERY = 8
"""Up to so many versions each is compared with each; of more (a run in turns) only with the next."""


def versions_of(watch: Watch) -> dict[str, Any]:
    """All of it; `pairs` holds the differences by "old-new"."""
    plans = watch.plans
    wanted: Iterable[tuple[Plan, Plan]] = combinations(plans, 2) if len(plans) <= _EVERY else pairs(plans)
    return {
        "plans": [_version(plan, older) for plan, older in zip(plans, [None, *plans], strict=False)],
        "pairs": {
            f"{old['version']}-{new['version']}": {
                "rows": [asdict(row) for row in compared(old, new, watch.results)],
                "change": difference(old, [], new["steps"]),
            }
            for old, new in wanted
        },
    }


def _version(plan: Plan, older: Plan | None) -> dict[str, Any]:
    return {
        "version": plan["version"], "headline": headline(plan), "by": plan["by"], "reason": plan["reason"],
        "goal": plan["goal"], "value": plan["value"], "graph": graph_of(plan["steps"]),
        "older": older["version"] if older else None, "untrusted": plan["untrusted"],
    }  # fmt: skip
