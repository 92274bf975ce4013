"""Asks people: one interrupt for each open request, after the report so far has been written.

Nothing acts before its `interrupt()`, since a resumed node runs again from its top.
"""

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict

from nodes.asking import read_answer
from nodes.look import look_at
from nodes.recording import note
from nodes.reporting import ReportInput, ReportUpdate, write_report
from nodes.run import open_run, resumable
from nodes.stopping import held_for_person
from state.channels import Approvals, Events, Results
from state.context import Context
from state.errors import InputError
from state.events import event_record
from state.request import Request
from state.result import Result


class AskInput(TypedDict):
    """One request for a person, as it is sent to `approve`."""

    ask: dict[str, Any]
    request: Request


class AskUpdate(TypedDict):
    """What a person's answer becomes."""

    approvals: Approvals
    events: Events


class ResultsInput(TypedDict):
    """What the routers read."""

    request: Request
    results: Results


def open_requests(results: dict[str, Result]) -> list[dict[str, Any]]:
    """Everything that waits for a person, in order."""
    return [
        ask for result in results.values() if result["status"] in ("waiting", "unknown") for ask in result["requests"]
    ]


async def after_execute(state: ResultsInput) -> str:
    """Where to go after a round: to a person if one is needed and the run can wait, else to the check."""
    return "pause" if open_requests(state["results"]) and resumable() else "check"


async def to_people(state: ResultsInput) -> list[Send]:
    """One `approve` for each open request."""
    return [Send("approve", {"ask": ask, "request": state["request"]}) for ask in open_requests(state["results"])]


async def pause(state: ReportInput, runtime: Runtime[Context]) -> ReportUpdate:
    """Writes the report so far, so that whoever invoked the graph holds one while it waits."""
    run = open_run(state, runtime)
    ended = held_for_person(look_at(state, run))
    run.event("pause", reason=ended["message"] if ended else "", next="a person")
    await note(run, pause=ended)
    return write_report({**state, "stop": ended}, run)


async def approve(state: AskInput, runtime: Runtime[Context]) -> AskUpdate:
    """Asks one person one thing; an answer that can't be read is asked for again, with what was wrong."""
    request, wrong = state["ask"], ""
    while True:
        given = interrupt({**request, "problem": wrong} if wrong else request)
        try:
            answer = read_answer(given, request)
            break
        except InputError as error:
            wrong = str(error)
    run = open_run(state, runtime)
    await note(run, answer=request["id"], given=answer)
    event = event_record(
        state["request"]["id"], "answer", step=request["step"], reason=answer["type"], evidence=[request["id"]]
    )
    return {"approvals": {request["id"]: answer}, "events": [event, *run.events]}
