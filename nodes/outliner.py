"""Writes a plan in words: what to do, step by step, with no tool named. Code makes the steps that the executor runs."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field

from nodes.ask import ask
from nodes.missing import said_by_people
from nodes.planner import PlanInput, PlanUpdate, checked, write_plan
from nodes.prompts.outliner import outline_messages
from nodes.run import Run, open_run
from nodes.solving import SOLVE_STEP, solve_args
from state.blank import Reason
from state.context import Context
from state.plan import PlanDraft, QuestionDraft, StepDraft
from tools.catalogue import Catalogue


class OutlineDraft(BaseModel):
    """A plan in words."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    goal: str = ""
    """What is asked for."""
    steps: list[str] = Field(default_factory=list)
    """What to do, one sentence a step, in order; the last step gives the answer."""
    impossible: Reason = None
    """Only if the question can't be answered by thinking: why."""
    questions: list[QuestionDraft] = Field(default_factory=list)
    """Only if a value is missing that only the user knows, and then no steps: what to ask."""


async def outline(state: PlanInput, runtime: Runtime[Context]) -> PlanUpdate:
    """The one plan of plan-and-solve."""
    return await write_plan(state, open_run(state, runtime), checked(_outlined))


async def _outlined(state: PlanInput, run: Run, tools: Catalogue, findings: list[str], left_out: int) -> PlanDraft:
    request = run.request
    messages = outline_messages(
        request["task"], request["constraints"], request["inputs"], run.language, earlier=request["earlier"],
        most=run.limits.steps, people=said_by_people(state["approvals"], state["asks"]), findings=findings,
        learned=run.lessons.values(),
    )  # fmt: skip
    said = await ask(messages, OutlineDraft, name="outline", role="planner", run=run)
    texts = [text.strip() for text in said.steps if text.strip()]
    steps = [StepDraft(id=f"s{n + 1}", tool=SOLVE_STEP, args=solve_args(n, text)) for n, text in enumerate(texts)]
    return PlanDraft(goal=said.goal, steps=steps, impossible=said.impossible, questions=said.questions)
