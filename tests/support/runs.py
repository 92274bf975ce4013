"""Plans and replies as a model would write them, and short ways to look at a report."""

from collections.abc import Iterable
from typing import Any

from tests.support.plans import PLANNING
from tests.support.script import Reply

PATTERNS = PLANNING
REPLANNING = ("plan_and_execute", "self_reflection")
THREAD: Any = {"configurable": {"thread_id": "t"}}


def step(name: str, tool: str, /, *, more: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
    """One step of a plan; `more` are the step's other fields, such as accept, after and fallback."""
    return {"id": name, "tool": tool, "args": args, **(more or {})}


def plan(*steps: dict[str, Any], goal: str = "the task is done") -> Reply:
    """A plan as the planner gives it."""
    return Reply({"goal": goal, "steps": list(steps)}, schema="plan", when="Role: planner")


def impossible(why: str) -> Reply:
    """A planner that sees no way."""
    return Reply({"steps": [], "impossible": why}, schema="plan", when="Role: planner")


def says(text: str, role: str = "answerer") -> Reply:
    """What a role says in plain words."""
    return Reply(text, when=f"Role: {role}")


def grade(*scores: int, accepted: bool | None = None, problems: Iterable[str] = ()) -> Reply:
    """A grading: completeness, accuracy, quality; accepted if each is 7 or more, unless it is said."""
    named = dict(zip(("completeness", "accuracy", "quality"), scores or (9, 9, 9), strict=True))
    good = min(named.values()) >= 7 if accepted is None else accepted
    verdict = {"checks": [], **named, "accepted": good, "problems": list(problems)}
    return Reply(verdict, schema="grade", when="Role: checker")


def reflection(lesson: str, change: str = "step", diagnosis: str = "the tool failed", **more: Any) -> Reply:
    """A diagnosis with its lesson."""
    said = {"diagnosis": diagnosis, "lesson": lesson, "change": change, **more}
    return Reply(said, schema="reflect", when="Role: reflector")


def look(verdict: str = "continue", lesson: str = "", change: str = "nothing", **more: Any) -> Reply:
    """A look back at what ran; to revise takes a finding and a lesson."""
    findings = {"findings": [lesson]} if lesson else {}
    said = {"verdict": verdict, "lesson": lesson, "change": change, **findings, **more}
    return Reply(said, schema="look", when="Role: reflector")


def drafted(text: str) -> Reply:
    """A first draft."""
    return says(text, "drafter")


def refined(answer: Any, **replies: str) -> Reply:
    """The next draft; `replies` say to each finding "fixed: what", or "refused: why"."""
    said = [dict(zip(("done", "because"), text.split(": ", 1), strict=True)) for text in replies.values()]
    told = [{"finding": name, **one} for name, one in zip(replies, said, strict=True)]
    return Reply({"answer": answer, "replies": told}, schema="refine", when="Role: refiner")


def critique(*findings: str, verdict: str = "", again: str = "", scores: dict[str, int] | None = None) -> Reply:
    """A critique; a finding is "dimension: text", and the first of them may be an earlier one `again`."""
    parts = [text.split(": ", 1) for text in findings]
    found = [{"dimension": one, "text": text, "again": "" if n else again} for n, (one, text) in enumerate(parts)]
    marks = scores or dict.fromkeys(("completeness", "accuracy", "quality"), 5 if findings else 9)
    verdict = verdict or ("improve" if findings else "nothing_to_improve")
    said = {"verdict": verdict, "findings": found, "scores": marks}
    return Reply(said, schema="critique", when="Role: critic")


def after_planning(pattern: str, answer: str) -> list[Reply]:
    """What else a pattern asks when all goes well: nothing, an answer, an answer and its grading."""
    if pattern == "one_shot":
        return []
    if pattern == "plan_act_reflect":
        return [look(), says(answer)]
    return [says(answer), grade()] if pattern == "self_reflection" else [says(answer)]


def results(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The results of a report by step."""
    return {result["step"]: result for result in report["results"]}


def statuses(report: dict[str, Any]) -> dict[str, str]:
    """What became of every step."""
    return {result["step"]: result["status"] for result in report["results"]}


def roles(requests: list[dict[str, Any]]) -> list[str]:
    """Who was asked, in order."""
    return [body["messages"][0]["content"].split("\n", 1)[0].removeprefix("Role: ") for body in requests]
