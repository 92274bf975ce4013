"""Plans and replies as a model would write them, and short ways to look at a report."""

from collections.abc import Iterable
from typing import Any

from tests.support.plans import MET, PLANNING, turns
from tests.support.script import Reply

PATTERNS = PLANNING
REPLANNING = ("plan_and_execute", "self_reflection")
REVISING = (*REPLANNING, "plan_act_reflect")
TURNING = ("react", "combined")
WHOLE_PLANS = (*PATTERNS, "plan_act_reflect")
ACTING = (*WHOLE_PLANS, *TURNING)
"""Every pattern that can do something with tools."""
THREAD: Any = {"configurable": {"thread_id": "t"}}


def step(name: str, tool: str, /, *, more: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
    """One step of a plan; `more` are the step's other fields, such as accept, after and fallback."""
    return {"id": name, "tool": tool, "args": args, **(more or {})}


def plan(*steps: dict[str, Any], goal: str = "the task is done") -> Reply:
    """A plan as the planner gives it."""
    return Reply({"goal": goal, "steps": list(steps)}, schema="plan", when="Role: planner")


def turn(thought: str = "", /, tool: str | None = None, marks: Any = (), **more: Any) -> Reply:
    """A turn as the reasoner gives it; what is left in `more` are arguments, or the answer."""
    moves = {name: more.pop(name) for name in ("answer", "impossible", "each") if name in more}
    called = {"tool": tool, "args": more} if tool else {}
    return Reply({"thought": thought, "marks": list(marks), **called, **moves}, schema="turn", when="Role: reasoner")


def impossible(why: str) -> Reply:
    """A planner that sees no way."""
    return Reply({"steps": [], "impossible": why}, schema="plan", when="Role: planner")


def says(text: str, role: str = "answerer") -> Reply:
    """What a role says in plain words."""
    return Reply(text, when=f"Role: {role}")


GRADED = ("self_reflection", "combined")
"""Where a checker grades the answer."""


def grade(
    *scores: int, accepted: bool | None = None, problems: Iterable[str] = (), checks: Iterable[dict[str, str]] = (MET,)
) -> Reply:
    """A grading: completeness, accuracy, quality; accepted if each is 7 or more, unless it is said."""
    named = dict(zip(("completeness", "accuracy", "quality"), scores or (9, 9, 9), strict=True))
    good = min(named.values()) >= 7 if accepted is None else accepted
    verdict = {"checks": list(checks), **named, "accepted": good, "problems": list(problems)}
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


def after_planning(pattern: str, answer: str, *, once: bool = False) -> list[Reply]:
    """What else a pattern asks when all goes well; nobody looks back where the limits leave no second version (`once`).

    Nothing, an answer, an answer and its grading, or the turn that answers.
    """
    if pattern == "one_shot":
        return []
    if pattern in TURNING:
        return [turn(answer=answer), *([grade()] if pattern == "combined" else [])]
    if pattern == "plan_act_reflect":
        return [*([] if once else [look()]), says(answer)]
    return [says(answer), grade()] if pattern == "self_reflection" else [says(answer)]


def in_turns(*steps: dict[str, Any]) -> list[Reply]:
    """The calls of these steps, a turn each; steps stand in the order of need."""
    return [Reply(one, schema="turn", when="Role: reasoner") for one in turns(*steps)]


def called(pattern: str, *steps: dict[str, Any], turns: int | None = None) -> list[Reply]:
    """The plan of these steps, or the turns that ask for them, of which only the first `turns` come about."""
    return in_turns(*steps[:turns]) if pattern in TURNING else [plan(*steps)]


def anew(pattern: str, lesson: str, change: str, *steps: dict[str, Any]) -> list[Reply]:
    """The next version of a plan, after the look or the reflection that the pattern has."""
    said = {"self_reflection": [reflection(lesson, change)], "plan_act_reflect": [look("revise", lesson, change)]}
    return [*said.get(pattern, []), plan(*steps)]


def gives_up(pattern: str, why: str, *, not_found: bool = False) -> list[Reply]:
    """The turn that sees no way, after a reflection where the pattern has one on what was not found; then the words."""
    end = turn(impossible=why)
    looked = [end, reflection("look elsewhere", "argument")] if pattern == "combined" and not_found else []
    return [*looked, end, says(why)]


def all_well(pattern: str, answer: str, *steps: dict[str, Any], once: bool = False) -> list[Reply]:
    """All that a pattern is told for these steps when nothing goes wrong; steps stand in the order of need."""
    return [*called(pattern, *steps), *after_planning(pattern, answer, once=once)]


def results(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The results of a report by step."""
    return {result["step"]: result for result in report["results"]}


def statuses(report: dict[str, Any]) -> dict[str, str]:
    """What became of every step."""
    return {result["step"]: result["status"] for result in report["results"]}


def roles(requests: list[dict[str, Any]]) -> list[str]:
    """Who was asked, in order."""
    return [body["messages"][0]["content"].split("\n", 1)[0].removeprefix("Role: ") for body in requests]
