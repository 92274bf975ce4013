"""From what a planner wrote to a plan version: fresh ids, effects from the catalogue, the difference to the last."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from state.plan import (
    Change,
    Fallback,
    FallbackDraft,
    Plan,
    PlanDraft,
    Step,
    StepDraft,
    empty_change,
    in_order,
    needs,
    step_hash,
)
from state.references import PATTERN, each_text
from state.result import FINISHED, Result
from tools.catalogue import Catalogue


def new_steps(draft: PlanDraft, version: int, results: Mapping[str, Result], tools: Catalogue) -> list[Step]:
    """The draft's steps as records; an id that an earlier step had is replaced by a fresh one.

    What the draft says of such an id means its own step; a finished step that is merely repeated keeps its result.
    """
    drafts = _written_anew(draft.steps, version, results, tools)
    taken = {*results, *(step.id for step in draft.steps)}
    fresh = {step.id: _fresh_id(step.id, version, taken) for step in drafts if step.id in results}
    return [_step(step, version, fresh, tools) for step in drafts]


def _fresh_id(name: str, version: int, taken: set[str]) -> str:
    """The id with its plan version, and longer where even that is taken."""
    fresh = f"{name}_v{version}"
    return fresh if fresh not in taken else _fresh_id(f"{name}_", version, taken)


def _written_anew(
    steps: Sequence[StepDraft], version: int, results: Mapping[str, Result], tools: Catalogue
) -> list[StepDraft]:
    """Without those that only stand there again; one that builds on a step written anew gets another input."""
    repeated = {place: step for place, step in enumerate(steps) if _is_finished(step, version, results, tools)}
    anew = {step.id for place, step in enumerate(steps) if place not in repeated}
    while stale := [p for p, step in repeated.items() if anew.intersection(_inputs(_step(step, version, {}, tools)))]:
        anew.update(repeated.pop(place).id for place in stale)
    return [step for place, step in enumerate(steps) if place not in repeated]


def _inputs(step: Step) -> list[str]:
    """The steps whose results go into a step, without those that only come before it."""
    return needs({**step, "after": [], "rests_on": []})


def _is_finished(step: StepDraft, version: int, results: Mapping[str, Result], tools: Catalogue) -> bool:
    """Whether a planner merely repeated a finished step as it was."""
    before = results.get(step.id)
    return bool(
        before and before["status"] in FINISHED and before["hash"] == step_hash(_step(step, version, {}, tools))
    )


def _step(draft: StepDraft, version: int, fresh: Mapping[str, str], tools: Catalogue) -> Step:
    fallback = _fallback(draft.fallback, fresh)
    on_failure = "fallback" if fallback and draft.on_failure == "block" else draft.on_failure
    step: Any = draft.model_dump(exclude={"fallback", "on_failure"}) | {
        "id": fresh.get(draft.id, draft.id),
        "args": rename(draft.args, fresh),
        "after": [fresh.get(name, name) for name in draft.after],
        "each": rename(draft.each, fresh),
        "when": _rename_condition(draft.when, fresh),
        "on_failure": on_failure,
        "fallback": fallback,
        "effect": tools[draft.tool].effect if draft.tool in tools else "read",
        "version": version,
    }
    return step  # type: ignore[no-any-return]


def _fallback(draft: FallbackDraft | None, fresh: Mapping[str, str]) -> Fallback | None:
    if draft is None:
        return None
    if draft.tool is None:
        return {"value": draft.value}
    return {"tool": draft.tool, "args": rename(draft.args, fresh)}


def rename(value: Any, fresh: Mapping[str, str]) -> Any:
    """References with the ids of their steps replaced."""
    return each_text(value, lambda text: PATTERN.sub(lambda m: f"${{steps.{fresh.get(m[1], m[1])}{m[2]}}}", text))


def _rename_condition(when: str | None, fresh: Mapping[str, str]) -> str | None:
    for old, new in fresh.items():
        if when:
            when = re.sub(rf"\bsteps\.{re.escape(old)}\b(?![-\w])", f"steps.{new}", when)
            when = re.sub(rf"\bsteps\[(['\"]){re.escape(old)}\1\]", f'steps["{new}"]', when)
    return when


def next_plan(
    last: Plan | None,
    steps: list[Step],
    results: Mapping[str, Result],
    *,
    goal: str,
    constraints: list[str],
    reason: str,
    by: str,
) -> Plan:
    """The next version: finished steps stay as they are, the rest is what the planner wrote."""
    kept = [step for step in last["steps"] if _stays(step, results)] if last else []
    return {
        "version": last["version"] + 1 if last else 1,
        "goal": goal or (last["goal"] if last else ""),
        "constraints": constraints,
        "steps": in_order([*kept, *steps]),
        "reason": reason,
        "by": by,
        "change": difference(last, kept, steps) if last else empty_change(),
        "untrusted": {},
        "value": None,
    }


def _stays(step: Step, results: Mapping[str, Result]) -> bool:
    return step["id"] in results and results[step["id"]]["status"] in (*FINISHED, "skipped")


def difference(last: Plan, kept: list[Step], steps: list[Step]) -> Change:
    """What was kept, changed (the same place in the plan, under a fresh id if it had run), added and dropped."""
    old = {step["id"]: step_hash(step) for step in last["steps"]}
    same = [step["id"] for step in steps if old.get(step["id"]) == step_hash(step)]
    stays = {*same, *(step["id"] for step in kept)}
    heirs = {step["id"].rpartition("_v")[0]: step["id"] for step in steps if "_v" in step["id"]}
    heirs |= {step["id"]: step["id"] for step in steps}
    changed = [heirs[name] for name in old if name in heirs and name not in stays]
    return {
        "kept": [*(step["id"] for step in kept), *same],
        "changed": sorted(changed),
        "added": [step["id"] for step in steps if step["id"] not in {*changed, *same}],
        "dropped": sorted(old.keys() - heirs.keys() - stays),
    }


def content(steps: list[Step]) -> list[str]:
    """What steps do, whatever their ids: two plans with the same content are the same plan."""
    names = {step["id"]: f"n{place}" for place, step in enumerate(steps)}
    plain: list[str] = []
    for step in steps:
        same: Any = {
            **step,
            "id": "",
            "after": [names.get(n, n) for n in step["after"]],
            "version": 0,
            "accept": [],
            "measures": {},
        }
        same |= {"args": rename(step["args"], names), "each": rename(step["each"], names), "criteria": []}
        same |= {"rests_on": [names.get(n, n) for n in step["rests_on"]], "fallback": rename(step["fallback"], names)}
        same |= {"when": _rename_condition(step["when"], names), "critical": False, "produces": "", "why": ""}
        plain.append(step_hash(same))
    return sorted(plain)
