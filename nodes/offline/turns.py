"""The offline planner in turns: its plan, one step a turn, then the answer from what came."""

import re
from collections.abc import Mapping
from typing import Any

from nodes.offline.answers import answer
from nodes.offline.requests import plan
from state.conditions import holds
from state.references import PATTERN, each_text

_TURN = re.compile(r"t\d+")


def turn(fences: Mapping[str, Any]) -> dict[str, Any]:
    """The next turn; a step that failed is not tried in another way, since there is nobody to think of one."""
    again = _asked_again(fences.get("findings"))
    drafted = plan({name: value for name, value in fences.items() if name != "findings" or not again})
    steps = drafted.get("steps") or []
    if not steps:
        return {"thought": "", "impossible": drafted.get("impossible") or "the request is not understood"}
    ran = [name for name in fences if _TURN.fullmatch(name)]
    failed = [name for name in ran if fences[name].get("status") not in ("done", "degraded", "skipped")]
    step, names = _next(steps, ran, fences)
    if failed or step is None:
        calls = {names[step["id"]]: _call(step, names) for step in steps if step["id"] in names}
        results = {name: {**fences[name], **calls.get(name, {})} for name in ran}
        missing = [f"{name}: {fences[name].get('note') or fences[name].get('status')}" for name in failed]
        return {"thought": "", "answer": answer({**fences, "results": results, "missing": missing})}
    twice = {"again": "the task asks for it more than once"} if again else {}
    return {"thought": step.get("why") or "", **_call(step, names), **twice}


def _asked_again(findings: Any) -> bool:
    """Whether all that was wrong with the last turn is that its call was made before, which the plan means."""
    return bool(findings) and all("say in `again` why" in str(one) for one in findings)


def _next(
    steps: list[dict[str, Any]], ran: list[str], fences: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """The first step that has not run and whose condition holds, and the ids that the others got in turns."""
    names: dict[str, str] = {}
    left = iter(ran)
    for step in steps:
        if step.get("when") and not _holds(step["when"], names, fences):
            continue
        if (name := next(left, None)) is None:
            return step, names
        names[step["id"]] = name
    return None, names


def _holds(when: str, names: Mapping[str, str], fences: Mapping[str, Any]) -> bool:
    try:
        return holds(when, {step: fences[name].get("output") for step, name in names.items()})
    except ValueError:
        return False


def _call(step: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A step as a call, with the ids that its sources got in turns."""

    def named(text: str) -> str:
        return PATTERN.sub(lambda found: f"${{steps.{names.get(found[1], found[1])}{found[2]}}}", text)

    call = {"tool": step["tool"], "args": each_text(step.get("args") or {}, named)}
    return call | ({"each": each_text(step["each"], named)} if step.get("each") else {})
