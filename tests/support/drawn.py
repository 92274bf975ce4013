"""Plans, results and reports to be drawn: any ids, texts and states, no run needed."""

from typing import Any

from state.plan import Plan, Step, empty_change, step_hash
from state.result import Result, Status
from state.usage import no_calls, no_usage


def a_step(name: str, *reads: str, tool: str = "calculator", **more: Any) -> Step:
    """A step whose arguments refer to other steps."""
    args = {f"x{place}": f"${{steps.{other}}}" for place, other in enumerate(reads)}
    step: Any = {
        "id": name, "tool": tool, "args": args, "after": [], "why": "", "produces": "", "accept": [], "criteria": [],
        "timeout": None, "retries": None, "on_failure": "block", "fallback": None, "each": None, "when": None,
        "rests_on": [], "critical": False, "effect": "read", "version": 1,
    }  # fmt: skip
    return {**step, **more}  # type: ignore[no-any-return]


def a_plan(*steps: Step, version: int = 1, reason: str = "first plan") -> Plan:
    """One version of a plan."""
    return {
        "version": version, "goal": "the task is done", "constraints": [], "steps": list(steps), "reason": reason,
        "by": "planner", "change": empty_change(), "untrusted": {}, "value": None,
    }  # fmt: skip


def a_result(step: Step, status: Status = "done", started: float = 0.0, seconds: float = 1.0, **more: Any) -> Result:
    """What became of a step."""
    result: Any = {
        "step": step["id"], "hash": step_hash(step), "plan_version": step["version"], "tool": step["tool"],
        "args": step["args"], "call": "", "calls": [], "effect": step["effect"], "status": status, "output": None,
        "artefact": None, "digest": "", "failure": None, "checks": [], "parts": [],
        "attempts": int(status in ("done", "degraded", "failed", "unknown")), "started": started,
        "ended": started + seconds, "slow": False, "note": "", "requests": [], "fresh": {}, "usage": no_calls(),
    }  # fmt: skip
    return {**result, **more}  # type: ignore[no-any-return]


def a_report(plans: list[Plan], results: list[Result], **more: Any) -> Any:
    """The report of a run over these."""
    report = {
        "request": "r", "pattern": "one_shot", "task": "a task", "answer": None, "answered_by": "code", "sources": {},
        "stop": {"reason": "done", "message": "every step is finished"}, "plans": plans, "results": results,
        "verdict": None, "reflections": [], "thoughts": [], "checks": {}, "missing": [], "writes": [], "risks": [],
        "open_requests": [], "people": [], "undo": [], "estimate": None, "usage": {**no_usage(), "steps": {}},
        "counts": {}, "models": {"planner": "m"}, "notes": [],
    }  # fmt: skip
    return {**report, **more}
