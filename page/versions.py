"""The versions of a plan: what each is, how it differs from the others, and how it is drawn."""

from dataclasses import asdict
from typing import Any

from graphs._versions import compared, headline, pairs
from graphs._watch import Watch
from nodes.drafting import difference
from page.graph import graph_of
from state.plan import Plan


def versions_of(watch: Watch) -> dict[str, Any]:
    """All of it; `pairs` holds the differences by "old-new": of the first with the last, and of each with the next."""
    plans = watch.plans
    wanted = [*([(plans[0], plans[-1])] if len(plans) > 2 else []), *pairs(plans)]
    return {
        "plans": [_version(plan, older) for plan, older in zip(plans, [None, *plans], strict=False)],
        "pairs": {f"{old['version']}-{new['version']}": _difference(old, new, watch) for old, new in wanted},
    }


def _difference(old: Plan, new: Plan, watch: Watch) -> dict[str, Any]:
    rows = [asdict(row) for row in compared(old, new, watch.results)]
    return {"rows": rows, "change": difference(old, [], new["steps"])}


def mark_of(watch: Watch) -> Any:
    """The same as long as `versions_of` says the same: it is dear to ask several times a second."""
    ran = [(name, result["hash"], result["status"]) for name, result in watch.results.items()]
    return [(plan["version"], len(plan["steps"])) for plan in watch.plans], ran


def _version(plan: Plan, older: Plan | None) -> dict[str, Any]:
    return {
        "version": plan["version"], "headline": headline(plan), "by": plan["by"], "reason": plan["reason"],
        "goal": plan["goal"], "value": plan["value"], "graph": graph_of(plan["steps"]),
        "older": older["version"] if older else None, "untrusted": plan["untrusted"],
    }  # fmt: skip
