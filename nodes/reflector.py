"""Reflects: diagnoses from evidence, reads only, and names what must change (Shinn et al. 2023, arXiv:2303.11366).

Code says what it starts from and what may change (`nodes/triggers.py`), and holds the next plan to what was said
(`nodes/contract.py`). Checks and statuses stand, whatever a reflection thinks of them.
"""

from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.executor import is_open
from nodes.lessons import recall
from nodes.look import Look, LookInput, look_at
from nodes.prompts.reflector import reflect_messages
from nodes.run import Run, open_run
from nodes.triggers import allowed_changes, budget_left, trigger_of
from nodes.troubles import trouble_with
from nodes.views import result_views
from state.blank import says_nothing
from state.channels import Counts, Events, Lessons, Reflections
from state.context import Context
from state.errors import BudgetSpent, ModelFailed, shorten
from state.stop import Stop, StopReason, stop
from state.usage import Usage
from state.verdict import Reflection, Trigger

NOTHING = "nothing"


class ReflectionDraft(BaseModel):
    """A diagnosis and what to do otherwise."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    hypotheses: list[str] = Field(default_factory=list)
    """What the cause may be."""
    diagnosis: str
    """The cause, with the evidence for it."""
    lesson: str
    """What the next attempt must do otherwise, so that a planner can follow it."""
    change: Literal["assumption", "step", "tool", "argument", "constraint", "scope", "nothing"]
    """What must change; nothing if there is nothing to change."""
    steps: list[str] = Field(default_factory=list)
    """Ids of the steps that must not come again as they are."""


class LookDraft(ReflectionDraft):
    """A look back at what ran: how to go on, and why."""

    verdict: Literal["continue", "finish", "revise"]
    """How to go on."""
    findings: list[str] = Field(default_factory=list)
    """What is wrong, each with the step that shows it."""
    diagnosis: str = ""
    """The cause, with the evidence for it."""
    lesson: str = ""
    """What the next plan must do otherwise."""
    change: Literal["assumption", "step", "tool", "argument", "constraint", "scope", "nothing"] = "nothing"
    """What must change."""


class ReflectInput(LookInput):
    """What the reflector reads."""

    lessons: Lessons
    answer: Any


class ReflectUpdate(TypedDict, total=False):
    """What the reflector writes; an answer that was not accepted is taken back."""

    reflections: Reflections
    lessons: Lessons
    counts: Counts
    trouble: Stop | None
    answer: Any
    usage: Usage
    events: Events


async def reflect(state: ReflectInput, runtime: Runtime[Context]) -> ReflectUpdate:
    """One reflection on a failed attempt; "nothing to change" ends the loop."""
    run = open_run(state, runtime)
    trigger = trigger_of(look_at(state, run)) or _unknown()
    update = await _reflect(state, run, trigger, _bound(ReflectionDraft, trigger))
    return {**update, "counts": {"reflections": 1, "attempts": 1}, "answer": None}


async def reflect_midway(state: ReflectInput, runtime: Runtime[Context]) -> ReflectUpdate:
    """One reflection in mid-run, because a turn of reasoning led to it; the attempt goes on with the lesson."""
    run, thought = open_run(state, runtime), state["thoughts"][-1]
    trigger: Trigger = {"cause": "asked for", "said": thought["text"], "evidence": _last_failures(state)}
    update = await _reflect(state, run, trigger, _bound(ReflectionDraft, trigger))
    return {**update, "counts": {"reflections": 1}}


async def look_back(state: ReflectInput, runtime: Runtime[Context]) -> ReflectUpdate:
    """A look at what ran since the last one, where the setting or code asks for it."""
    run = open_run(state, runtime)
    look = look_at(state, run)
    counts = {"looked": look.counts.get("iterations", 0) - look.counts.get("looked", 0)}
    trigger = trigger_of(look)
    if not _is_due(look, trigger):
        return {"counts": counts, "usage": run.meter.usage(), "events": run.events}
    known: Trigger = trigger or {"cause": "look", "said": "", "evidence": []}
    update = await _reflect(state, run, known, _bound(LookDraft, known, look), look=True)
    revising = any(said["verdict"] == "revise" for said in update["reflections"]) or bool(update["trouble"])
    return {**update, "counts": counts | ({"reflections": 1} if revising else {})}


def _is_due(look: Look, trigger: Trigger | None) -> bool:
    """Whether anybody has to look: something is wrong, or the setting says so and there is somebody to ask."""
    counts, limits, version = look.counts, look.run.limits, look.run.plan_version
    if any(counts.get(name, 0) >= getattr(limits, name) for name in ("reflections", "replans")):
        return False  # nothing could follow from it
    if trigger:
        return (version, trigger["said"]) not in [(said["version"], said["trigger"]) for said in look.reflections]
    if look.run.context.models_of("reflector") == ["offline"]:
        return False  # which has no opinion of its own
    seen = {name for said in look.reflections for name in said["looked_at"]}
    new = [look.steps[one["step"]] for one in look.results if one["step"] not in seen]
    return bool(new) and (look.run.context.reach != "critical" or any(step["critical"] for step in new))


async def _reflect(
    state: ReflectInput, run: Run, trigger: Trigger, form: type[Any], *, look: bool = False
) -> ReflectUpdate:
    written: list[Reflection] = []
    trouble: Stop | None = None
    try:
        await recall(state, run, "reflector")
        evidence, learned = _evidence(state, run, trigger), run.lessons.values()
        messages = reflect_messages(state["request"]["task"], evidence, run.language, learned, look=look)
        draft = await ask(messages, form, name="look" if look else "reflect", role="reflector", run=run)
        written, trouble = _take(draft, trigger, state)
    except (BudgetSpent, ModelFailed) as error:
        trouble = trouble_with("reflecting", error)
    said = written[0]["lesson"] or written[0]["verdict"] if written else ""
    run.event("reflection", reason=trouble["message"] if trouble else said, evidence=[trigger["cause"]])
    return {
        "reflections": written, "lessons": run.lessons, "trouble": trouble, "usage": run.meter.usage(),
        "events": run.events,
    }  # fmt: skip


def _evidence(state: ReflectInput, run: Run, trigger: Trigger) -> dict[str, Any]:
    verdict, look = state["verdict"], look_at(state, run)
    left = [step for step in look.steps.values() if is_open(step, state["results"])]
    return {
        "trigger": {"cause": trigger["cause"], "evidence": trigger["evidence"][:5]},
        "allowed_changes": list(allowed_changes(trigger["cause"])),
        "budget": budget_left(look),
        "constraints": state["request"]["constraints"],
        "answer": state["answer"],
        "verdict": {"scores": verdict["scores"], "problems": verdict["problems"]} if verdict else None,
        "results": result_views(state["plans"], state["results"]),
        "left": [{"id": step["id"], "tool": step["tool"], "args": step["args"]} for step in left],
        "lessons": [said["lesson"] for said in state["reflections"] if said["lesson"]],
    }


def _bound(form: type[BaseModel], trigger: Trigger, look: Look | None = None) -> type[Any]:
    """The form with what code holds against it; what is sent to the model stays the same."""

    def model_post_init(self: Any, context: Any, /) -> None:
        if wrong := _out_of_bounds(self, trigger, look):
            raise ValueError(wrong)

    held = {
        "__doc__": form.__doc__, "__module__": form.__module__, "model_post_init": model_post_init,
        "model_config": ConfigDict(use_attribute_docstrings=False),  # they are read already, and a run reads no source
    }  # fmt: skip
    return type(form.__name__, (form,), held)


def _out_of_bounds(said: Any, trigger: Trigger, look: Look | None) -> str:
    allowed, verdict = allowed_changes(trigger["cause"]), getattr(said, "verdict", "revise")
    if verdict == "revise" and said.change not in (*allowed, NOTHING):
        return f"change is {said.change!r}; on this cause ({trigger['cause']}) right would be one of {list(allowed)}"
    if look is None:
        return ""
    if verdict != "revise" and trigger["cause"] not in ("look", "budget nearly gone"):
        return f"verdict is {verdict}, but code found: {trigger['said']}; it stands, right would be revise"
    if verdict != "revise" and (found := [text for text in said.findings if not says_nothing(text)]):
        return f"verdict is {verdict}, but a finding is named ({shorten(found[0])}): the verdict contradicts itself"
    if verdict == "revise" and said.change != NOTHING and not (said.findings and said.lesson.strip()):
        return "verdict is revise, and there is no finding or no lesson"
    writes = [one["id"] for one in look.steps.values() if is_open(one, look.everything) and one["effect"] == "write"]
    cut = writes if verdict == "finish" else []
    return f"verdict is finish, but steps that change something are left: {cut}" if cut else ""


def _take(draft: Any, trigger: Trigger, state: ReflectInput) -> tuple[list[Reflection], Stop | None]:
    verdict: Any = getattr(draft, "verdict", "revise")
    current = [step["id"] for step in state["plans"][-1]["steps"]] if state["plans"] else []
    said: Reflection = {
        "attempt": state["counts"].get("attempts", 0) + 1,
        "version": state["plans"][-1]["version"] if state["plans"] else 0,
        "cause": trigger["cause"], "trigger": trigger["said"], "verdict": verdict, "diagnosis": draft.diagnosis,
        "hypotheses": draft.hypotheses, "lesson": draft.lesson if verdict == "revise" else "", "change": draft.change,
        "steps": [name for name in draft.steps if name in current], "findings": getattr(draft, "findings", []),
        "looked_at": [name for name in current if name in state["results"]],
    }  # fmt: skip
    if verdict == "revise" and (draft.change == NOTHING or not draft.lesson.strip()):
        why = draft.diagnosis or trigger["said"]
        return [said], stop(StopReason.NO_PROGRESS, f"reflection found nothing to change: {why}")
    return [said], None


def _unknown() -> Trigger:
    return {"cause": "acceptance failed", "said": "not accepted", "evidence": []}


def _last_failures(state: ReflectInput) -> list[str]:
    failed = [one for one in state["results"].values() if one["status"] == "failed" and one["failure"]]
    return [f"step {one['step']}: {one['failure']['message']}" for one in failed[-3:] if one["failure"]]
