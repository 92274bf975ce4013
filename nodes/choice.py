"""Chooses the pattern for a task: a model estimates what the task looks like, code decides by one visible table.

A saved plan that is given, or called as the task says, is chosen without a model. Leaves out: the running, which is
done by the nodes of the pattern that was chosen.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.health import offered
from nodes.inputs import valid_inputs
from nodes.plan_file import check_inputs, in_short, known_plans, lacking
from nodes.plan_file import filled as with_defaults
from nodes.prompts.chooser import choice_messages
from nodes.recording import remembered
from nodes.run import Run, open_run
from nodes.shortlist import shortlist
from state.channels import Events
from state.choice import Chosen, Features
from state.context import Context
from state.errors import BudgetSpent, InputError, ModelFailed
from state.request import Request
from state.usage import Usage
from state.workflow import Workflow
from tools.catalogue import describe
from tools.settings import tool_settings

FEW, MANY = 2, 10
"""Up to so many steps a task is short; above so many it is long."""
Known = dict[str, Workflow]


class FeaturesDraft(BaseModel):
    """What a task looks like."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    steps: int = Field(ge=0)
    """How many calls of tools the task takes."""
    dependent: bool = False
    """Whether any of them needs the result of another."""
    expandable: bool = False
    """Whether all of them can be written down now, with references to results that are not known yet."""
    vague: bool = False
    """Whether it is open what the task asks for, or when it is done."""
    writes: bool = False
    """Whether any of them changes something."""
    workflow: str | None = None
    """Name of the saved plan that does exactly this task, if one is listed."""


class ChooseInput(TypedDict):
    """What the choice is made by."""

    request: Request
    usage: Usage


class ChooseUpdate(TypedDict):
    """What the choice writes: the request says from now on by which pattern it is worked on."""

    request: Request
    usage: Usage
    events: Events


class ChosenInput(TypedDict):
    """What the router behind the choice reads."""

    request: Request


def is_open(features: Features) -> bool:
    """Whether nobody can say now what all the steps are."""
    return features["vague"] or features["steps"] > MANY


Rule = tuple[str, Callable[[Features], bool], str]
TREE: tuple[Rule, ...] = (
    ("workflow", lambda it: bool(it["workflow"]), "a saved plan does this task"),
    (
        "plan_act_reflect", lambda it: is_open(it) and it["writes"],
        "over 10 steps or a vague goal, and something is changed: looked back on at key steps, not tried as a whole",
    ),
    ("self_reflection", is_open, "over 10 steps or a vague goal: graded, and tried again with what was learnt"),
    ("one_shot", lambda it: it["steps"] <= FEW, "one or two steps"),
    ("one_shot", lambda it: not it["dependent"], "3 to 10 steps, none of which needs another's result"),
    ("rewoo", lambda it: it["expandable"], "3 to 10 steps that need each other and can all be written down ahead"),
    ("plan_and_execute", lambda it: True, "3 to 10 steps that need each other, the later ones open until then"),
)  # fmt: skip
"""Pattern, when it is chosen, and the reason; the first that holds."""


def decided(features: Features) -> tuple[str, str]:
    """The pattern for these features, and the reason."""
    return next((pattern, reason) for pattern, holds, reason in TREE if holds(features))


async def choose(state: ChooseInput, runtime: Runtime[Context]) -> ChooseUpdate:
    """Puts the pattern, its features and the reason into the request."""
    run = open_run(state, runtime)
    known, notes = await _known(run)
    features, why, lacks = await _features(run, known)
    request: Request = run.request
    notes += lacks
    if name := features["workflow"]:
        try:
            request = {**request, "workflow": known[name], "inputs": await _inputs(known[name], run)}
        except InputError as error:
            features, notes = {**features, "workflow": ""}, [*notes, str(error)]
    pattern, reason = why or decided(features)
    if pattern == "plan_act_reflect" and run.context.reflect is None:
        request = {**request, "settings": {**request["settings"], "reflect": "critical"}}
    chosen: Chosen = {"pattern": pattern, "features": features, "reason": "; ".join([reason, *notes])}
    run.event("chosen", reason=chosen["reason"], evidence=[features], next=pattern)
    return {"request": {**request, "chosen": chosen}, "usage": run.meter.usage(), "events": run.events}


async def to_chosen(state: ChosenInput) -> str:
    """To the beginning of the pattern that was chosen."""
    chosen = state["request"].get("chosen")
    assert chosen, "the choice was made right before"
    return chosen["pattern"]


async def _known(run: Run) -> tuple[Known, list[str]]:
    """The saved plans that may be chosen by name, and what is wrong with others."""
    if given := run.request.get("workflow"):
        return {given["source"]: given}, []
    if not run.context.workflows:
        return {}, []
    folder = run.context.workflows
    found, wrong = await remembered(run, "saved plans", lambda: _read(folder))
    return found, wrong


async def _read(folder: str) -> Any:
    return await asyncio.to_thread(known_plans, folder)


async def _features(run: Run, known: Known) -> tuple[Features, tuple[str, str] | None, list[str]]:
    """What the task looks like; where nobody could estimate it, the pattern that is right for most tasks.

    Last, which saved plans would do it but lack inputs.
    """
    task, notes = _plain(run.request["task"]), []
    for name, plan in known.items():
        if run.request.get("workflow") or task in (_plain(name), _plain(plan["goal"])):
            if not (lacks := _lacks(plan, run)) or run.request.get("workflow"):
                return _of_plan(name, plan), None, []
            notes.append(lacks)
    try:
        said = await _estimated(run, known)
    except (ModelFailed, BudgetSpent) as error:
        nothing = _features_of(FeaturesDraft(steps=0), "", "code")
        return nothing, ("plan_and_execute", f"nobody could estimate the task ({error})"), notes
    lacks = _lacks(known[said.workflow], run) if said.workflow in known else ""
    fits = said.workflow in known and not lacks
    notes = list(dict.fromkeys([*notes, *([lacks] if lacks else [])]))
    by = "offline planner" if run.context.models_of("planner") == ["offline"] else "model"
    return _features_of(said, (said.workflow or "") if fits else "", by), None, notes


async def _estimated(run: Run, known: Known) -> FeaturesDraft:
    tools = await shortlist(await offered(run), run, None, [])
    plans = [in_short(plan, name) for name, plan in known.items()]
    messages = choice_messages(
        run.request["task"], run.request["constraints"], run.request["inputs"],
        [describe(tool) for tool in tools.values()], plans, run.language, earlier=run.request["earlier"],
    )  # fmt: skip
    return await ask(messages, FeaturesDraft, name="features", role="planner", run=run)


def _features_of(said: FeaturesDraft, workflow: str, by: str) -> Features:
    return {
        "steps": said.steps, "dependent": said.dependent, "expandable": said.expandable, "vague": said.vague,
        "writes": said.writes, "workflow": workflow, "by": by,
    }  # fmt: skip


def _of_plan(name: str, plan: Workflow) -> Features:
    return _features_of(FeaturesDraft(steps=len(plan["steps"]), expandable=True), name, "code")


def _lacks(plan: Workflow, run: Run) -> str:
    lacks = lacking(plan, run.request["inputs"])
    return f"the saved plan {plan['source']} is passed over, it lacks inputs: {lacks}" if lacks else ""


async def _inputs(plan: Workflow, run: Run) -> dict[str, Any]:
    """The request's inputs over the plan's defaults; raises `InputError` where they do not fit."""
    settings = tool_settings(run.context)
    inputs = await valid_inputs(with_defaults(plan, run.request["inputs"]), settings)
    await asyncio.to_thread(check_inputs, plan, inputs, settings.home)
    return inputs


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").strip(" .!?。！？").split())
