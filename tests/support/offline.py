"""Plans of the offline planner, and a plain way to carry them out with the real tools."""

import asyncio
from functools import cache
from pathlib import Path
from typing import Any

from nodes.drafting import new_steps
from nodes.offline.requests import plan
from nodes.plan_check import check_plan
from nodes.prompts.planner import plan_messages
from state.conditions import holds
from state.plan import PlanDraft
from state.references import references, resolve
from tools import calculator, documents, files, mail, words
from tools.catalogue import describe
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv

BUILT_IN = (calculator, files, documents, mail, words)


def built_in(root: Path | str = ".") -> dict[str, Tool]:
    """The built-in tools inside one folder, by name."""
    settings = ToolSettings(root=str(root), documents=str(root), home=str(Path(root) / ".home"))
    return {tool.name: tool for module in BUILT_IN for tool in module.tools(settings)}


@cache
def _described() -> tuple[dict[str, Any], ...]:
    return tuple(describe(tool) for tool in built_in().values())


def described() -> list[dict[str, Any]]:
    """The built-in tools as the planner's prompt describes them."""
    return list(_described())


def planned(task: str, **fences: Any) -> PlanDraft:
    """The plan for a task, validated; `tools` are descriptions, by default of the built-in tools."""
    fences.setdefault("tools", described())
    return PlanDraft.model_validate(plan({"task": task, **fences}))


def lines(draft: PlanDraft) -> list[str]:
    """Each step as one line: `s1 = calculator(expression="2 + 3")`, as docs/offline.md shows it."""
    if draft.impossible:
        return ["refused"]
    return [_line(step) for step in draft.steps]


def findings(draft: PlanDraft, tools: dict[str, Tool], inputs: dict[str, Any] | None = None) -> list[str]:
    """What the check of plans has against a plan."""
    steps = new_steps(draft, 1, {}, tools)
    return [finding["message"] for finding in check_plan(steps, tools, inputs=inputs or {})]


def _line(step: Any) -> str:
    given = ", ".join(f"{name}={_shown(value)}" for name, value in step.args.items())
    more = f" for each of {step.each}" if step.each else ""
    more += f" when {step.when}" if step.when else ""
    return f"{step.id} = {step.tool}({given}){more}"


def _shown(value: Any) -> str:
    return repr(value).replace("'", '"')


def messages(task: str, **more: Any) -> Any:
    """The planner's prompt."""
    return plan_messages(task, more.get("constraints"), more.get("inputs"), described(), "en")


def carried_out(draft: PlanDraft, tools: dict[str, Tool], inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    """The output of every step."""
    outputs: dict[str, Any] = {"inputs": inputs or {}}

    def once(step: Any, item: Any = None) -> Any:
        given = resolve(step.args, outputs | {"item": item})
        return asyncio.run(tools[step.tool].run(given, ToolEnv(ask=_ask)))

    for step in draft.steps:
        if step.when and not holds(step.when, outputs):
            continue
        assert set(references(step.args)) <= {*outputs, "item"}
        each = resolve(step.each, outputs) if step.each else None
        outputs[step.id] = once(step) if each is None else [once(step, item) for item in each]
    del outputs["inputs"]
    return outputs


async def _ask(instruction: str, data: str) -> str:
    from nodes.offline import OfflineModel
    from nodes.prompts.executor import carry_out

    return str((await OfflineModel().ainvoke(carry_out(instruction, data, "en"))).content)
