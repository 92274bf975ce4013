"""Asks people: one interrupt for each open request, after the report so far has been written.

Nothing acts before its `interrupt()`, since a resumed node runs again from its top. A plan is asked about by `agree`.
"""

from functools import partial
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from nodes.answers import Answer, ask, kept, read_answer, told_apart
from nodes.asking import open_requests
from nodes.calls import refusal
from nodes.first_answer import first_answer
from nodes.look import look_at
from nodes.recording import note
from nodes.reporting import ReportInput, ReportUpdate, write_report
from nodes.run import Run, open_run, resumable, tightened
from nodes.stopping import held_for_person
from nodes.typed_args import problems
from state.channels import Approvals, Asks, Events, Plans, Results
from state.context import Context
from state.errors import InputError, shorten
from state.events import event_record
from state.plan import canonical
from state.request import Request
from tools.constraints import violated
from tools.tool import Tool


class AskInput(TypedDict):
    """One request for a person, as it is sent to `approve`."""

    ask: dict[str, Any]
    request: Request


class AskUpdate(TypedDict):
    """What a person's answer becomes."""

    approvals: Approvals
    events: Events


class OpenInput(TypedDict):
    """What the routers read."""

    request: Request
    plans: Plans
    results: Results
    asks: Asks


class AnsweredInput(TypedDict):
    """What the router behind an answer reads."""

    asks: Asks


async def after_plan(state: OpenInput) -> str:
    """To a person if the planner lacks something and the run can wait, else to the decision."""
    return _to_people_or("decide", state)


async def after_execute(state: OpenInput) -> str:
    """To a person if one is needed and the run can wait, else to the check."""
    return _to_people_or("check", state)


async def after_check(state: OpenInput) -> str:
    """To a person about what was not accepted, if a step says so and the run can wait, else to the decision."""
    return _to_people_or("decide", state)


def _to_people_or(otherwise: str, state: OpenInput) -> str:
    return "pause" if resumable() and open_requests(state) else otherwise


async def to_people(state: OpenInput) -> Any:
    """One `approve` for each open request; a plan is agreed to alone."""
    asked = open_requests(state)
    if any(one["kind"] == "plan" for one in asked):
        return "agree"
    return [Send("approve", {"ask": one, "request": state["request"]}) for one in asked]


async def after_approve(state: AnsweredInput) -> str:
    """What a planner lacked goes back to it; anything else goes on where it waited."""
    return "plan" if state["asks"] else "execute"


async def pause(state: ReportInput, runtime: Runtime[Context]) -> ReportUpdate:
    """Writes the report so far, so that whoever invoked the graph holds one while it waits."""
    run = open_run(state, runtime)
    ended = held_for_person(look_at(state, run))
    run.event("pause", reason=ended["message"] if ended else "", next="a person")
    await note(run, pause=ended)
    return write_report({**state, "stop": ended}, run)


async def approve(state: AskInput, runtime: Runtime[Context]) -> AskUpdate:
    """Asks one person one thing; an answer that can't be read is asked for again, with what was wrong."""
    request = state["ask"]
    run = open_run(state, runtime)
    answer = await ask(request, partial(_taken, request=request, run=run))
    answer = await first_answer(run, runtime, answer)
    await note(run, answer=request["id"], given=answer, settings=tightened(run))
    told = told_apart(answer, request)
    event = event_record(state["request"]["id"], "answer", step=request["step"], reason=answer["type"], evidence=told)
    return {"approvals": {request["id"]: kept(answer, request)}, "events": [event, *run.events]}


async def _taken(given: Any, *, request: dict[str, Any], run: Run) -> Answer:
    """The answer; raises `InputError` where the call that it changes could not run, so that it is asked for again."""
    answer, action = read_answer(given, request), request["action_requests"][0]
    tool, argument = run.tools.get(action["name"]), request.get("argument")
    if answer["type"] == "edit":
        args = answer["args"]
    elif answer["type"] == "respond" and argument:
        args = {**action["args"], argument: answer["value"]}
    else:
        return answer
    if tool and not run.replay and (why := await _wrong(tool, args, run)):
        raise InputError(f"{tool.name} can't run with {shorten(canonical(args), 300)}: {why}")
    return answer


async def _wrong(tool: Tool, args: dict[str, Any], run: Run) -> str:
    found = problems(args, tool.args_schema, {})
    why = "; ".join(found[:3]) or violated(tool, args, run.request["constraints"])
    refused = None if why else await refusal(tool, args)
    return refused["message"] if refused else why
