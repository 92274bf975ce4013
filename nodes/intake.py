"""Begins every request: validates what was handed in, freezes it with constraints and limits, and clears the thread."""

import asyncio
import re
import time
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from nodes.beginning import Before, before_this, begun_in_journal, check_kept, first_event, places_of, request_id
from nodes.constraints import no_typos, valid_constraints
from nodes.dropping import dropped
from nodes.fixed_plan import given_plan
from nodes.followup import earlier_requests, heard_before
from nodes.frame import kept_values, told_of
from nodes.inputs import valid_inputs
from nodes.models import check_models
from nodes.plan_file import check_inputs, filled
from nodes.recording import begin
from nodes.run import open_run
from nodes.settings import get_context, prepare_tools, tools_of
from nodes.telemetry import telemetry_of
from nodes.unused import asked
from state.channels import (
    Approvals,
    Asks,
    Constraints,
    Counts,
    Drafts,
    Events,
    Inputs,
    Lessons,
    Messages,
    Plans,
    Reflections,
    Results,
    Task,
    Thoughts,
)  # fmt: skip
from state.clock import ticks
from state.context import Context
from state.errors import InputError, shorten
from state.events import Event
from state.messages import task_in
from state.report import Report
from state.request import FROZEN, Request
from state.schemas import schema_fault
from state.stop import Stop
from state.usage import Usage, no_usage
from state.value import Review
from state.verdict import Graded, Verdict
from tools.catalogue import Catalogue
from tools.journals import journal_of
from tools.settings import tool_settings

LONGEST_TASK = 100_000
"""Characters; a longer text belongs into a file or into `inputs`."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")


class IntakeInput(TypedDict, total=False):
    """What intake reads; the report is that of an earlier request on the thread."""

    task: Task
    constraints: Constraints
    inputs: Inputs
    messages: Messages
    request: Request
    report: Report | None


class IntakeUpdate(TypedDict):
    """What intake writes: the frozen request, and everything else as new."""

    request: Request
    messages: Messages
    plans: Plans
    results: Results
    approvals: Approvals
    asks: Asks
    reflections: Reflections
    thoughts: Thoughts
    drafts: Drafts
    lessons: Lessons
    events: Events
    counts: Counts
    usage: Usage
    verdict: Verdict | None
    trouble: Stop | None
    stop: Stop | None
    answer: Any
    answered_by: str
    sources: dict[str, list[str]]
    best: Graded | None
    reviewed: Review | None
    report: Report | None


def intake(pattern: str) -> Any:
    """The first node of a pattern."""

    async def intake(state: IntakeInput, runtime: Runtime[Context]) -> IntakeUpdate:
        """Checks what was handed in, freezes it, and clears the thread."""
        context, began = get_context(runtime), ticks()
        before = await asyncio.to_thread(before_this, state)  # a long report takes its time
        request = context.replay.request if context.replay else await _frozen(pattern, state, before, context, runtime)
        event = first_event(request, before.odd)
        runtime.stream_writer(event)
        spent = 0.0 if context.replay else ticks() - began  # tools may have been loaded
        return _fresh(request, event, _as_messages(request, state), {**no_usage(), "seconds": spent})

    return intake


async def _frozen(
    pattern: str, state: IntakeInput, before: Before, context: Context, runtime: Runtime[Context]
) -> Request:
    """The request as it stays, once everything that the caller handed in is found sound."""
    check_models(context)
    telemetry_of(context)  # asked for without its packages: the caller's fault as well
    await prepare_tools(context)
    tools = tools_of(context)  # an unknown one is the caller's fault
    await asyncio.to_thread(check_schemas, context, tools)  # large ones take their time
    no_typos(context.deny, tools, "context setting deny")
    no_typos(context.allow or [], tools, "context setting allow")
    workflow = await given_plan(context, pattern)
    given, inputs = _given_task(state), state.get("inputs")
    task = valid_task(workflow["goal"] if workflow and given is None else given)
    settings = tool_settings(context)
    inputs = await valid_inputs(filled(workflow, inputs) if workflow else inputs, settings)
    if workflow:
        await asyncio.to_thread(check_inputs, workflow, inputs, settings.home)
    constraints = valid_constraints(state.get("constraints"), tools)
    check_kept(context, tools, constraints)
    name = request_id(runtime)
    request: Request = {
        "id": name,
        "task": task,
        "inputs": inputs,
        "pattern": pattern,
        "language": language_of(task) if context.language == "auto" else context.language,
        "constraints": constraints,
        "settings": context.model_dump(mode="json", include=set(FROZEN))
        | await asyncio.to_thread(places_of, context)
        | {"journal": await asyncio.to_thread(begun_in_journal, name, context, tools)},
        "started": time.time(),
        "earlier": earlier_requests(before.request, before.report),
        "workflow": workflow,
        "chosen": None,
        "asked": asked(context),
        "dropped": await asyncio.to_thread(dropped, before.request, before.report, journal_of(context)),
        "heard": heard_before(before.request, before.report, tools),
    }
    run = open_run({"request": request}, runtime)
    large = await asyncio.to_thread(kept_values, {"request": request}, run.context.home_folder())
    await begin(run, request=request, artefacts=large, **told_of(run))
    return request


def _as_messages(request: Request, state: IntakeInput) -> Messages:
    """The task as a message, where it did not come as one."""
    if state.get("task") is None and state.get("messages"):
        return []
    return [{"type": "human", "content": request["task"], "id": f"{request['id']}-task"}]


def _given_task(state: IntakeInput) -> Any:
    """The task, or what the last message of a chat says; a task goes before messages that are there from earlier."""
    given = state.get("task")
    return task_in(state.get("messages") or []) if given is None else given


def _fresh(request: Request, event: Event, messages: Messages, usage: Usage) -> IntakeUpdate:
    nothing: Any = Overwrite([])
    none: Any = Overwrite({})
    events: Any = Overwrite([event])
    return {
        "request": request, "messages": messages, "plans": nothing, "results": none, "approvals": none, "asks": [],
        "reflections": nothing, "thoughts": nothing, "drafts": nothing, "lessons": none,
        "events": events, "counts": {"reset": 1}, "usage": usage, "verdict": None, "trouble": None, "stop": None,
        "answer": None, "answered_by": "", "sources": {}, "best": None, "reviewed": None,
        "report": None,
    }  # fmt: skip


def valid_task(task: Any) -> str:
    """The task, or an `InputError` that says what would be right."""
    if not isinstance(task, str):
        raise InputError(
            f'the task is {shorten(task)} ({type(task).__name__}); right would be {{"task": "what to do"}}'
        )
    if not task.strip():
        raise InputError("the task is empty; say in words what is to be done")
    if len(task) > LONGEST_TASK:
        raise InputError(
            f"the task has {len(task):,} characters, at most {LONGEST_TASK:,} are taken; "
            "put long text into a file or `inputs`"
        )
    try:
        task.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the task holds bytes that are no UTF-8 text, at character {error.start}") from error
    if "\0" in task:
        raise InputError(f"the task holds a NUL character, at character {task.index(chr(0))}; leave it out")
    return task.strip()


def check_schemas(context: Context, tools: Catalogue) -> None:
    """A schema that can't be used is the caller's fault, and is found before anything runs."""
    if context.answer_schema is not None and (why := schema_fault(context.answer_schema)):
        raise InputError(f"context setting 'answer_schema' is no JSON Schema that can be used: {why}")
    for tool in tools.values():
        for schema in (tool.args_schema, tool.output_schema or {}):
            if why := schema_fault(schema):
                raise InputError(f"tool {tool.name!r} has a schema that can't be used: {why}")


def language_of(task: str) -> str:
    """zh for a task written in Chinese, en for any other."""
    han = len(_HAN.findall(task))
    return "zh" if han and not _KANA.search(task) and han >= len(_LATIN.findall(task)) else "en"
