"""The one tool of plan-and-solve: a model solves a step from question, whole plan, earlier results and the step itself.

What a step sees is bounded, so that the tokens of a run grow with its steps and not with their square. Leaves out: how
the plan is written (`nodes/outliner.py`).
"""

from typing import Any

from nodes.prompts.executor import SOLVE
from nodes.views import bounded
from state.errors import ToolFailed
from state.plan import Plan
from state.request import Request
from tools.tool import Tool, ToolEnv

SOLVE_STEP = "solve"
WINDOW = 20
"""Earlier steps that a step builds on: those right before it."""
ROOM = 4000
"""Characters of the plan, and of the earlier results, that a step sees."""
_SCHEMA = {
    "type": "object",
    "properties": {"step": {"type": "string", "minLength": 1}, "earlier": {"type": "object"}},
    "required": ["step"],
    "additionalProperties": False,
}


def solve_args(place: int, text: str) -> dict[str, Any]:
    """The arguments of the step at a place, counted from 0."""
    earlier = {f"s{n}": f"${{steps.s{n}}}" for n in range(max(1, place + 1 - WINDOW), place + 1)}
    return {"step": text, **({"earlier": earlier} if earlier else {})}


def solve_tool(request: Request, plans: list[Plan]) -> Tool:
    """The tool as it is in one run: question and plan are those of the run, not arguments of every step."""
    given = {name: request[name] for name in ("constraints", "inputs") if request[name]}
    steps = plans[-1]["steps"] if plans else []
    plan = bounded({step["id"]: step["args"]["step"] for step in steps}, ROOM)

    async def solve(args: dict[str, Any], env: ToolEnv) -> str:
        if env.ask is None:
            raise ToolFailed("a step in words is solved by a model and none is named; set LLM_MODEL_ID", "permanent")
        earlier = bounded(args.get("earlier", {}), ROOM)
        known = {"question": request["task"], **given, "plan": plan, "earlier": earlier, "step": args["step"]}
        return await env.ask(SOLVE[env.language], known)

    return Tool(
        SOLVE_STEP,
        "Solves one step of a plan in words.",
        _SCHEMA,
        solve,
        output_schema={"type": "string"},
        timeout=120.0,
        uses_model=True,
        of_pattern=True,
    )
