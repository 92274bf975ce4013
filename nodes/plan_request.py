"""The request to agree to a plan, and whether one is due: nothing of a version runs before a person has approved it.

The executor asks here before it runs anything, so no way leads around it.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from nodes.asking import Request as Ask
from nodes.asking import decision
from nodes.estimate import estimate
from nodes.run import Run
from nodes.trust import in_words
from state.channels import Approvals, Counts, Plans, Results
from state.errors import shorten
from state.plan import Plan, PlanDraft, Step, StepDraft, digest, step_hash
from state.request import pattern_of
from state.result import FINISHED

RUN_PLAN = "run_plan"
"""What the one action of such a request is called."""
_SETTLED = (*FINISHED, "failed", "blocked", "skipped")


class HeldInput(TypedDict):
    """What decides whether a plan waits for a person."""

    plans: Plans
    results: Results
    approvals: Approvals
    counts: Counts


def plan_to_agree(state: HeldInput, run: Run) -> Ask | None:
    """The request for a plan of which something is left to run and that nobody has approved, where settings ask it."""
    plan, mode = state["plans"][-1], run.context.approve_plan
    if mode == "never":
        return None
    left = [step for step in plan["steps"] if not _is_settled(step, state["results"])]
    writes = estimate({**plan, "steps": left}, run)["writes"]
    if not left or (mode == "writes" and not writes):
        return None
    may_plan_again = pattern_of(run.request) != "workflow" and state["counts"].get("replans", 0) < run.limits.replans
    request = plan_request(plan, left, writes, run, may_plan_again)
    answer = decision(state["approvals"], request)
    return None if answer and answer["type"] == "approve" else request


def _is_settled(step: Step, results: Results) -> bool:
    return step["id"] in results and results[step["id"]]["status"] in _SETTLED


def plan_id(plan: Plan, run: Run) -> str:
    """Follows from request, version and content, so that each later version is asked again."""
    return digest([run.request["id"], "plan", plan["version"], [step_hash(step) for step in plan["steps"]]])


def plan_request(plan: Plan, left: list[Step], writes: list[str], run: Run, may_plan_again: bool) -> Ask:
    """Shows what is left to run, what it writes, where untrusted data flows, and how it differs from the last one."""
    ids = {step["id"] for step in left}
    flows = {name: in_words(flow) for name, flow in plan["untrusted"].items() if name in ids}
    shown: dict[str, Any] = {
        "version": plan["version"], "goal": plan["goal"], "steps": [as_draft(step) for step in left],
        "finished": [step["id"] for step in plan["steps"] if step["id"] not in ids], "writes": writes,
        "untrusted": flows,
    }  # fmt: skip
    if plan["version"] > 1:
        shown |= {"reason": plan["reason"], "change": plan["change"]}
    allowed = ["approve", "edit", "reject", *(["respond"] if may_plan_again else [])]
    return {
        "id": plan_id(plan, run),
        "kind": "plan",
        "step": "",
        "action_requests": [{"name": RUN_PLAN, "args": shown, "description": _words(plan, left, writes, flows)}],
        "review_configs": [{"action_name": RUN_PLAN, "allowed_decisions": allowed, "args_schema": _EDIT_SCHEMA}],
    }


def _words(plan: Plan, left: list[Step], writes: list[str], flows: Mapping[str, str]) -> str:
    changes = f" It changes something: {'; '.join(shorten(line, 200) for line in writes)}." if writes else ""
    careful = "".join(f" Careful, step {name}: {flow}." for name, flow in flows.items())
    since = f" It is new because: {shorten(plan['reason'], 300)}." if plan["version"] > 1 else ""
    steps = f"{len(left)} step{'' if len(left) == 1 else 's'}"
    return f"Plan {plan['version']} has {steps} to run. May it run?{since}{changes}{careful}"


def as_draft(step: Step) -> dict[str, Any]:
    """The step as a planner would write it, so that it can be handed back changed."""
    draft = StepDraft.model_validate({name: step[name] for name in StepDraft.model_fields})  # type: ignore[literal-required]
    return {"id": step["id"], "tool": step["tool"], "args": step["args"], **draft.model_dump(exclude_defaults=True)}


def _edit_schema() -> dict[str, Any]:
    drafts = PlanDraft.model_json_schema()
    parts = {name: drafts["properties"][name] for name in ("goal", "steps")}
    defs = {name: part for name, part in drafts["$defs"].items() if name != "QuestionDraft"}
    return {"type": "object", "properties": parts, "required": ["steps"], "$defs": defs}


_EDIT_SCHEMA = _edit_schema()
