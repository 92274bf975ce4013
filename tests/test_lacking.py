"""A function that is not offered, a value that nobody gave: a question or a stop is the end, never an invented call."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from evals.bfcl_lacking import missing_functions, missing_parameters
from evals.oracle import ROLES, OracleModel
from evals.runner import PLENTY, Record, run_tasks
from evals.tasks import Task, by_text
from graphs import load
from tests.support.gold import DATA, IN_TURNS, PLANNING, needs_data
from tests.test_worlds import needs_tools
from tools.tool import ToolEnv

pytestmark = [needs_data, needs_tools, pytest.mark.slow]
WHOLE_PLANS = [pattern for pattern in PLANNING if pattern not in IN_TURNS]


class Watched:
    """Tasks whose tools note what was really called."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.called: dict[str, list[str]] = {task.id: [] for task in tasks}
        self.tasks = [self._watch(task) for task in tasks]

    def _watch(self, task: Task) -> Task:
        def noting(tool: Any) -> Any:
            async def run(args: dict[str, Any], around: ToolEnv) -> Any:
                self.called[task.id].append(tool.name)
                return await tool.run(args, around)

            return replace(tool, run=run)

        return replace(task, tools=tuple(map(noting, task.tools)))


def without_functions() -> Watched:
    return Watched([task for task, _ in missing_functions(DATA)][:60])


def ran(tasks: Sequence[Task], pattern: str, model: OracleModel, **settings: Any) -> list[Record]:
    return asyncio.run(run_tasks(tasks, pattern, settings={"model": model, **settings}))


def insists(tasks: Sequence[Task]) -> OracleModel:
    """Plans the gold calls, whatever is offered."""

    def plan(task: Task, fences: Any, prompt: str) -> Any:
        return ROLES["planner"](task, {**fences, "tools": [{"name": step.tool} for step in task.gold]}, prompt)

    return OracleModel(known=by_text(tasks), roles={**ROLES, "planner": plan})


def test_the_variants_are_read() -> None:
    functions, parameters = list(missing_functions(DATA)), list(missing_parameters(DATA))
    assert (len(functions), len(parameters)) == (98, 47)
    for task, left_out in functions:
        assert {step.tool for step in task.gold} & set(left_out)
        assert not {tool.name for tool in task.tools} & set(left_out)
    assert all(value not in task.text for task, _, value in parameters)


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_who_insists_on_a_function_that_is_not_there_is_stopped_before_anything_ran(pattern: str) -> None:
    watched = without_functions()
    records = ran(watched.tasks, pattern, insists(watched.tasks))
    assert {record["stop"] for record in records} == {"plan_invalid"}
    assert all("there is no tool" in record["problems"][0] for record in records)
    assert [name for name, calls in watched.called.items() if calls] == []


@pytest.mark.parametrize("pattern", IN_TURNS)
def test_in_turns_it_is_stopped_where_the_function_is_due(pattern: str) -> None:
    watched = without_functions()
    records = ran(watched.tasks, pattern, insists(watched.tasks))
    assert {record["stop"] for record in records} == {"plan_invalid"}
    for task in watched.tasks:
        offered = {tool.name for tool in task.tools}
        first = next(place for place, step in enumerate(task.gold) if step.tool not in offered)
        assert watched.called[task.id] == [step.tool for step in task.gold[:first]]


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_who_says_that_a_function_is_missing_ends_with_that(pattern: str) -> None:
    watched = without_functions()
    records = ran(watched.tasks, pattern, OracleModel.of(watched.tasks))
    assert {record["stop"] for record in records} == {"cannot_be_done"}
    assert all("no tool for" in record["problems"][0] for record in records)
    assert [name for name, calls in watched.called.items() if calls] == []


def parameters() -> tuple[Watched, dict[str, tuple[str, Any]]]:
    found = list(missing_parameters(DATA))
    return Watched([task for task, _, _ in found]), {task.id: (name, value) for task, name, value in found}


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_value_that_is_missing_is_asked_for_and_nothing_runs_without_it(pattern: str) -> None:
    watched, values = parameters()
    for record in ran(watched.tasks, pattern, OracleModel.of(watched.tasks)):
        assert record["stop"] == "needs_input"
        assert f"Which {values[record['task']][0]}?" in record["problems"][0]
    assert [name for name, calls in watched.called.items() if calls] == []


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute", "self_reflection"])
def test_the_answer_to_the_question_is_the_value_that_was_left_out(pattern: str) -> None:
    watched, values = parameters()
    graph = load(pattern, checkpointer=InMemorySaver())
    settings: dict[str, Any] = {**PLENTY, "model": OracleModel.of(watched.tasks)}

    async def talk(task: Task) -> list[str]:
        thread: Any = {"configurable": {"thread_id": task.id}}
        context = {**settings, "tools": list(task.tools)}
        out = await graph.ainvoke({"task": task.text}, thread, context=context)
        [asked] = out["__interrupt__"]
        answer = {"decisions": [{"type": "respond", "message": values[task.id][1]}]}
        out = await graph.ainvoke(Command(resume={asked.id: answer}), thread, context=context)
        return task.wrong(out["report"])

    assert {task.id: wrong for task in watched.tasks if (wrong := asyncio.run(talk(task)))} == {}


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_call_without_its_value_is_refused_before_anything_ran(pattern: str) -> None:
    watched, values = parameters()
    known = {task.id: task for task in watched.tasks}

    def bare(task: Task) -> Task:
        """Gold without the argument that nobody gave."""
        put = f"${{steps.inputs.{values[task.id][0]}}}"
        steps = [{name: one for name, one in step.args.items() if one != put} for step in task.gold]
        gold = [step.model_copy(update={"args": args}) for step, args in zip(task.gold, steps, strict=True)]
        return replace(task, gold=tuple(gold))

    required = [bare(task) for task in known.values() if needs_it(task, values[task.id][0])]
    assert len(required) > 30
    for record in ran(required, pattern, OracleModel.of(required)):
        assert record["stop"] in ("plan_invalid", "needs_input")
        assert "missing argument" in record["problems"][0] or record["stop"] == "needs_input"
    assert [name for name, calls in watched.called.items() if calls] == []


def needs_it(task: Task, argument: str) -> bool:
    put = f"${{steps.inputs.{argument}}}"
    tools = {tool.name: tool.args_schema for tool in task.tools}
    return any(step.args.get(argument) == put and argument in tools[step.tool]["required"] for step in task.gold)
