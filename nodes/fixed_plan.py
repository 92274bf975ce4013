"""A plan that stands in a file: no model is asked for it; it is checked like any other before anything runs."""

import asyncio
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from nodes.plan_file import place_of, read_plan
from nodes.planner import PlanInput, PlanUpdate, Written, write_plan
from nodes.run import Run, open_run
from nodes.troubles import invalid
from nodes.unused import check_asked
from nodes.value import value_of
from nodes.versions import next_version, refused
from state.context import Context
from state.errors import InputError
from state.plan import PlanDraft
from state.workflow import Workflow


async def given_plan(context: Context, pattern: str) -> Workflow | None:
    """The saved plan that the settings of a run give, if any; whatever is wrong with it is the caller's fault."""
    check_asked(context, pattern)
    if context.plan is None:
        if pattern == "workflow":
            raise InputError("the pattern workflow runs a saved plan; give one: setting plan, or --plan FILE")
        return None
    return await asyncio.to_thread(read_plan, context.plan)


async def plan_from_file(state: PlanInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The plan as it stands in its file."""
    return await write_plan(state, open_run(state, runtime), _as_it_stands)


async def _as_it_stands(state: PlanInput, run: Run) -> Written:
    workflow = run.request.get("workflow")
    assert workflow, "intake or the choice put it there"
    draft = PlanDraft.model_validate({"goal": workflow["goal"], "steps": workflow["steps"]})
    written, steps, findings = next_version(
        draft, [], {}, run, run.tools, reason=f"the saved plan {workflow['source']}", by="workflow"
    )
    if findings := findings or await refused(steps, run.tools):
        return None, invalid([{**one, "message": _placed(one, workflow)} for one in findings]), []
    return {**written, "value": value_of(written, {}, run)}, None, []


def _placed(finding: Mapping[str, Any], workflow: Workflow) -> str:
    return f"{place_of(workflow, finding['step'])}: {finding['message']}"
