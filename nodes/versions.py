"""The next version of a plan from a draft, whoever wrote it, with everything that is wrong with it."""

from typing import Any

from nodes.board import may_write
from nodes.calls import refusal
from nodes.drafting import new_steps, next_plan
from nodes.likeness import alike
from nodes.plan_check import Finding, check_plan, finding
from nodes.run import Run
from nodes.trust import flows_in_view, heard, in_words, joined, kept_flows, untrusted_flows
from state.channels import Plans, Results
from state.errors import shorten
from state.plan import Plan, PlanDraft, Step, StepDraft, calls_of
from state.references import references
from tools.catalogue import Catalogue

_SAME_GOAL = 0.2
"""How much alike (`likeness.py`) two wordings of one goal are at least."""
Version = tuple[Plan, list[Step], list[Finding]]
"""A plan as it would stand, its new steps, and its findings."""


def next_version(
    draft: PlanDraft, plans: Plans, results: Results, run: Run, tools: Catalogue, *, reason: str, by: str
) -> Version:
    """The version after the last of `plans`; `tools` are those that it may use."""
    last = plans[-1] if plans else None
    steps = new_steps(draft, last["version"] + 1 if last else 1, results, run.tools)
    written = next_plan(
        last, steps, results, goal=_goal(draft, last, run, by),
        constraints=constraint_texts(run.request["constraints"]), reason=reason, by=by,
    )  # fmt: skip
    if last and by == "planner" and _is_another(draft.goal, last["goal"], run.request["task"]):
        written["other_goal"] = shorten(draft.goal)
    seen = in_view(plans, results, run) if by == "planner" else []
    written["untrusted"] = joined(
        untrusted_flows(written["steps"], run.tools),
        flows_in_view(steps, seen, run.tools, plans),
        kept_flows(last, written["steps"]),
    )
    return written, steps, findings_of(written, steps, results, run, tools)


def _goal(draft: PlanDraft, last: Plan | None, run: Run, by: str) -> str:
    """A later version of a planner may go another way to the same goal; a person may change that too."""
    told = draft.goal or run.request["task"]
    return told if last is None or (by != "planner" and draft.goal) else last["goal"]


def _is_another(said: str, goal: str, task: str) -> bool:
    """Whether what a planner calls the goal is no other wording of it; planners word it anew all the time."""
    return bool(said.strip()) and max(alike(said, goal), alike(said, task)) < _SAME_GOAL


def one_more_step(draft: StepDraft, plans: Plans, results: Results, run: Run, tools: Catalogue) -> Version:
    """What the last version grows by, chosen in view of all results: whatever came from outside may be in it."""
    version = plans[-1]["version"] if plans else 1
    steps = new_steps(PlanDraft(steps=[draft]), version, results, run.tools)
    writes = any(may_write(step, run.tools) for step in steps)
    flows = flows_in_view(steps, in_view(plans, results, run), run.tools) if writes else {}
    more = {**begun(run), "version": version, "steps": steps, "untrusted": flows}
    return more, steps, findings_of(more, steps, results, run, tools)  # type: ignore[return-value, arg-type]


def in_view(plans: Plans, results: Results, run: Run) -> list[str]:
    """What a model that is told of all results, and of earlier requests, has seen from outside."""
    return [*(["an earlier request"] if run.request.get("heard") else []), *heard(plans, results, run.tools)]


def begun(run: Run, *, reason: str = "in turns", by: str = "reasoner") -> Plan:
    """A first version that has no step yet, and grows by one a turn."""
    texts = constraint_texts(run.request["constraints"])
    return next_plan(None, [], {}, goal=run.request["task"], constraints=texts, reason=reason, by=by)


def findings_of(written: Plan, steps: list[Step], results: Results, run: Run, tools: Catalogue) -> list[Finding]:
    """Everything that is wrong with the new steps of a version."""
    return [*_findings(steps, results, run, tools), *_untrusted(written, run)]


def findings_so_far(steps: list[Step], results: Results, run: Run, tools: Catalogue) -> list[Finding]:
    """What is wrong with the last of these steps, of a plan that is still being written."""
    return _findings(steps, results, run, tools, only_last=True)


def steps_left(results: Results, run: Run) -> int:
    """How many more steps may run."""
    return run.limits.steps - sum(bool(result["attempts"]) for result in results.values())


def _findings(
    steps: list[Step], results: Results, run: Run, tools: Catalogue, *, only_last: bool = False
) -> list[Finding]:
    left = steps_left(results, run)
    if len(steps) > left:
        message = f"the plan has {len(steps)} steps; at most {left} may run (limit steps={run.limits.steps})"
        return [{"step": "", "code": "too_many_steps", "message": message}]
    return check_plan(
        steps, tools, done=results, inputs=run.request["inputs"], context=run.context,
        constraints=run.request["constraints"], only_last=only_last,
    )  # fmt: skip


async def refused(steps: list[Step], tools: Catalogue) -> list[Finding]:
    """What tools have against arguments as they stand in a plan; those that are still references are left out."""
    found: list[Finding] = []
    for name, (tool, args) in [(step["id"], call) for step in steps for call in calls_of(step)]:
        known = {key: value for key, value in args.items() if not references(value)}
        if tool in tools and (reason := await refusal(tools[tool], known)):
            found.append(finding(name, "refused", f"{tool}: {reason['message']}"))
    return found


def _untrusted(written: Plan, run: Run) -> list[Finding]:
    """Untrusted data in a write is always said; where a policy forbids it, it is a finding."""
    if run.context.untrusted_writes == "say":
        return []
    return [
        {"step": name, "code": "untrusted_write", "message": f"step {name!r}: {in_words(flow)}, which is not allowed"}
        for name, flow in written["untrusted"].items()
    ]


def constraint_texts(constraints: dict[str, Any]) -> list[str]:
    """Constraints as sentences, for the plan and the report."""
    words = [str(item) for item in constraints.get("words", [])]
    return words + [f"{key} = {value}" for key, value in constraints.items() if key != "words"]
