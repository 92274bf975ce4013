"""A person's word about a plan: approved, edited, rejected, or sent back to the planner.

That nothing runs before is held by the executor (`nodes/plan_request.py`).
"""

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from pydantic import ValidationError
from typing_extensions import TypedDict

from nodes.answers import Answer, ask, kept, read_answer, told_apart
from nodes.call import SAID
from nodes.first_answer import first_answer
from nodes.plan_request import plan_id
from nodes.recording import note
from nodes.run import Run, open_run, tightened
from nodes.value import value_of
from nodes.versions import next_version, refused
from state.channels import Approvals, Asks, Events, Plans, Results
from state.context import Context
from state.errors import InputError, shorten
from state.plan import Plan, PlanDraft
from state.request import Request
from state.stop import Stop, StopReason, stop


class AgreeInput(TypedDict):
    """What `agree` reads."""

    request: Request
    plans: Plans
    results: Results
    asks: Asks


class AgreeUpdate(TypedDict):
    """What a person's word about a plan becomes; `asks` stays where the planner has to take it up."""

    approvals: Approvals
    plans: Plans
    asks: Asks
    trouble: Stop | None
    events: Events


class AfterAgreeInput(TypedDict):
    """What the router after `agree` reads."""

    asks: Asks
    trouble: Stop | None


async def agree(state: AgreeInput, runtime: Runtime[Context]) -> AgreeUpdate:
    """Asks a person about the last plan; new steps are checked like a planner's, and findings are told back."""
    run = open_run(state, runtime)
    [request] = state["asks"]

    async def take(given: Any) -> tuple[Answer, Plan | None]:
        answer = read_answer(given, request)
        return answer, await _edited(answer["args"], state, run) if answer["type"] == "edit" else None

    answer, edited = await ask(request, take)
    if (first := await first_answer(run, runtime, answer)) != answer:
        answer, edited = first, await _edited(first["args"], state, run) if first["type"] == "edit" else None
    await note(run, answer=request["id"], given=answer, settings=tightened(run))
    run.event("answer", reason=answer["type"], evidence=told_apart(answer, request))
    version = request["action_requests"][0]["args"]["version"]
    approvals = {request["id"]: kept(answer, request) | {"version": version}}
    if edited:
        run.plan_version = edited["version"]
        run.event("plan", reason=edited["reason"], evidence=[step["id"] for step in edited["steps"]])
        approvals[plan_id(edited, run)] = kept({"type": "approve"}, request) | {"version": edited["version"]}
    refused = shorten(answer.get("message") or "a person rejected the plan", SAID)
    return {
        "approvals": approvals,
        "plans": [edited] if edited else [],
        "asks": state["asks"] if answer["type"] == "respond" else [],
        "trouble": stop(StopReason.REJECTED, refused) if answer["type"] == "reject" else None,
        "events": run.events,
    }


async def _edited(args: Mapping[str, Any], state: AgreeInput, run: Run) -> Plan:
    """The next version, by a person; raises `InputError` with everything that is wrong with it."""
    try:
        draft = PlanDraft.model_validate({name: args[name] for name in ("goal", "steps") if name in args})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"the edited plan: {where}: {first['msg']}, got {shorten(first['input'])}") from error
    written, steps, findings = next_version(
        draft, state["plans"], state["results"], run, run.tools, reason="edited by a person", by="person"
    )
    if findings := findings or await refused(steps, run.tools):
        raise InputError(f"the edited plan can't run: {'; '.join(finding['message'] for finding in findings)}")
    return {**written, "value": value_of(written, state["results"], run)}


async def after_agree(state: AfterAgreeInput) -> str:
    """To the run's end, back to the planner with what a person said, or on with the plan."""
    if state["trouble"]:
        return "decide"
    return "plan" if state["asks"] else "execute"
