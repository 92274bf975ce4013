"""Whether a lesson fits where a run stands: 0.4 intent + 0.3 error pattern + 0.3 step context, used from 0.85.

What is not known on both sides does not count, and the rest is weighed as if it were all: before anything went wrong
only the intent is known, and alone has to come to 0.85. Leaves out: how much two texts are alike (`likeness.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.likeness import Alike
from state.errors import shorten
from state.lesson import Lesson, Trigger
from state.plan import Plan
from state.result import Result
from state.verdict import Reflection

WEIGHTS = {"intent": 0.4, "error": 0.3, "step": 0.3}
USED_FROM = 0.85
TOLD = 3
"""How many lessons are told at once, the best first."""
_LONGEST = 300


@dataclass(frozen=True)
class Situation:
    """Where a run stands: what is wanted, what went wrong, in which step; empty where that is not known."""

    intent: str
    error: str = ""
    step: str = ""

    @property
    def trigger(self) -> Trigger:
        """What makes a lesson of this situation be used again."""
        return {"intents": [self.intent], "error": self.error, "step": self.step}


def weighed(parts: Mapping[str, float | None]) -> float:
    """The score; None is what is not known."""
    known = {name: value for name, value in parts.items() if value is not None}
    whole = sum(WEIGHTS[name] for name in known)
    return min(1.0, sum(WEIGHTS[name] * value for name, value in known.items()) / whole) if known else 0.0


def score(lesson: Lesson, stands: Situation, alike: Alike) -> float:
    """How well a lesson fits a situation; of several intents that it is for, the nearest counts."""
    trigger = lesson["trigger"]
    parts: dict[str, float | None] = {
        "intent": max((alike(intent, stands.intent) for intent in trigger["intents"]), default=None),
        "error": alike(trigger["error"], stands.error) if trigger["error"] and stands.error else None,
        "step": alike(trigger["step"], stands.step) if trigger["step"] and stands.step else None,
    }
    return weighed(parts)


def fitting(
    lessons: Iterable[Lesson], situations: Iterable[Situation], alike: Alike, most: int = TOLD
) -> list[tuple[Lesson, float]]:
    """The lessons that fit one of the situations, best first; among equals the one that helped more."""
    stand = list(situations)
    scored = [(lesson, max(score(lesson, one, alike) for one in stand)) for lesson in lessons]
    used = [(lesson, found) for lesson, found in scored if found >= USED_FROM]
    return sorted(used, key=lambda pair: (-pair[1], pair[0]["misses"] - pair[0]["helps"], pair[0]["id"]))[:most]


def texts_of(lessons: Iterable[Lesson], situations: Iterable[Situation]) -> list[str]:
    """Every text that is compared, each once."""
    triggers = [lesson["trigger"] for lesson in lessons] + [one.trigger for one in situations]
    texts = (text for one in triggers for text in (*one["intents"], one["error"], one["step"]))
    return list(dict.fromkeys(filter(None, texts)))


def situations(state: Mapping[str, Any], task: str) -> list[Situation]:
    """Where a run stands: one for each step of the last plan that failed, else what the last reflection was about."""
    plans: list[Plan] = state["plans"]
    results: Mapping[str, Result] = state["results"]
    last = {step["id"]: step for step in plans[-1]["steps"]} if plans else {}
    failed = [one for name, one in results.items() if name in last and one["status"] == "failed"]
    if failed:
        return [Situation(task, error_of(one), step_of(one, last[one["step"]]["produces"])) for one in failed]
    if told := (state.get("verdict") or {"problems": []})["problems"]:
        return [Situation(task, shorten("; ".join(told[:3]), _LONGEST))]
    reflections: list[Reflection] = state.get("reflections") or []
    return [Situation(task, reflections[-1]["trigger"] if reflections else "")]


def error_of(result: Result) -> str:
    """The error pattern of a failed step: its class and what was said."""
    failure = result["failure"]
    return shorten(f"{failure['cls']}: {failure['message']}", _LONGEST) if failure else ""


def step_of(result: Result, produces: str = "") -> str:
    """The context of a step: its tool, what it was to give, and the names of its arguments."""
    return shorten(" ".join(filter(None, [result["tool"], produces, *sorted(result["args"])])), _LONGEST)
