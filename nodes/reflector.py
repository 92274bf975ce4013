"""Reflects on a failed attempt: diagnoses from evidence, reads only, and names what must change (Shinn et al. 2023)."""

from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.lessons import recall
from nodes.prompts.reflector import reflect_messages
from nodes.run import open_run
from nodes.troubles import trouble_with
from nodes.views import result_views
from state.channels import Counts, Events, Lessons, Plans, Reflections, Results
from state.context import Context
from state.errors import BudgetSpent, ModelFailed
from state.request import Request
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.verdict import Reflection, Verdict


class ReflectionDraft(BaseModel):
    """A diagnosis and what to do otherwise."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    diagnosis: str
    """The cause, with the evidence for it."""
    lesson: str
    """What the next attempt must do otherwise, so that a planner can follow it."""
    change: Literal["assumption", "step", "tool", "argument", "constraint", "scope", "nothing"]
    """What must change; nothing if there is nothing to change."""


class ReflectInput(TypedDict):
    """What the reflector reads."""

    request: Request
    plans: Plans
    results: Results
    reflections: Reflections
    lessons: Lessons
    answer: Any
    verdict: Verdict | None
    counts: Counts
    usage: Usage


class ReflectUpdate(TypedDict):
    """What the reflector writes."""

    reflections: Reflections
    lessons: Lessons
    counts: Counts
    trouble: Stop | None
    answer: Any
    usage: Usage
    events: Events


async def reflect(state: ReflectInput, runtime: Runtime[Context]) -> ReflectUpdate:
    """One reflection; "nothing to change" ends the loop."""
    run = open_run(state, runtime)
    verdict = state["verdict"]
    evidence = {
        "answer": state["answer"],
        "verdict": {"scores": verdict["scores"], "problems": verdict["problems"]} if verdict else None,
        "results": result_views(state["plans"], state["results"]),
        "lessons": [reflection["lesson"] for reflection in state["reflections"]],
    }
    written: list[Reflection] = []
    trouble: Stop | None = None
    try:
        await recall(state, run, "reflector")
        messages = reflect_messages(state["request"]["task"], evidence, run.language, run.lessons.values())
        draft = await ask(messages, ReflectionDraft, name="reflect", role="reflector", run=run)
        written, trouble = _take(draft, state)
    except (BudgetSpent, ModelFailed) as error:
        trouble = trouble_with("reflecting", error)
    run.event("reflection", reason=written[0]["lesson"] if written else (trouble or {"message": ""})["message"])
    counts = {"reflections": 1, "attempts": 1}
    return {
        "reflections": written, "lessons": run.lessons, "counts": counts, "trouble": trouble, "answer": None,
        "usage": run.meter.usage(), "events": run.events,
    }  # fmt: skip


def _take(draft: ReflectionDraft, state: ReflectInput) -> tuple[list[Reflection], Stop | None]:
    trigger = "; ".join((state["verdict"] or {"problems": []})["problems"][:3]) or "not accepted"
    reflection: Reflection = {
        "attempt": state["counts"].get("attempts", 0) + 1, "trigger": trigger,
        "diagnosis": draft.diagnosis, "lesson": draft.lesson, "change": draft.change,
    }  # fmt: skip
    if draft.change == "nothing" or not draft.lesson.strip():
        return [reflection], stop(StopReason.NO_PROGRESS, f"reflection found nothing to change: {draft.diagnosis}")
    return [reflection], None
