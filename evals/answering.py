"""Who answers in an eval: a real model, or one of those that stand in for one; and what each can't be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from evals.noise import noisy
from evals.oracle import OracleModel
from evals.recorded import RecordedModel
from evals.sets import NO_TOOLS, TaskSet
from evals.tasks import Task
from nodes.models import check_models
from state.context import make_context
from state.errors import InputError

STAND_INS = ("oracle", "noisy", "recorded")
"""oracle: always right, from gold; noisy: wrong on purpose, at a known rate; recorded: what a real model once said."""
_DRAFTING = ("direct", "chain_of_thought", "retry", "reflection")
_RECORDED: Mapping[str, tuple[str, ...]] = {
    "mbpp": ("direct", "one_shot", "plan_and_execute", "self_reflection", "rewoo", "reflection", "plan_act_reflect"),
    "planbench": (
        "one_shot", "plan_and_execute", "self_reflection", "rewoo", "react", "plan_act_reflect", "combined",
    ),
}  # fmt: skip
"""The patterns for which a recording holds what a model would be asked."""


@dataclass(frozen=True)
class Answering:
    """Who answers: the name of a model, or of a stand-in with its settings."""

    name: str
    noise: float = 0.0
    noise_seed: int = 0

    @property
    def simulated(self) -> bool:
        """Whether no model speaks, and none ever did."""
        return self.name in ("oracle", "noisy")

    @property
    def label(self) -> str:
        """How it is called in every output."""
        rate = f" {self.noise:g}, seed {self.noise_seed}" if self.name == "noisy" else ""
        return f"{self.name}{rate}{' (simulated)' if self.simulated else ''}"

    def model(self, tasks: Sequence[Task], pattern: str) -> Any:
        """What the setting `model` gets for these tasks."""
        if self.name == "noisy":
            return noisy(tasks, p=self.noise, seed=self.noise_seed, pattern=pattern)
        if self.name == "oracle":
            return OracleModel.of(tasks)
        return RecordedModel.of(tasks) if self.name == "recorded" else self.name

    def why_not(self, pattern: str, one: TaskSet) -> str:
        """Why a pattern is not tried on a set; empty if it is."""
        if pattern in NO_TOOLS and one.judged == "calls":
            return "calls no tool, and the set is judged by what tools gave and did"
        if self.name == "recorded" and pattern not in _RECORDED.get(one.name, ()):
            return "a model was recorded only as it is asked in other patterns"
        if one.judged == "tests" and self.name != "recorded" and pattern not in _DRAFTING:
            return "plans calls, and what the tests of the set judge is one program"
        if pattern == "workflow" and not all(task.gold for task in one.tasks()):
            return "plans nothing, and these tasks bring no plan"
        if pattern == "reflection" and self.name == "oracle":
            return "a draft of the oracle would be the gold answer itself and show nothing"
        return ""

    def check_model(self, settings: Mapping[str, Any]) -> None:
        """Raises `InputError` where a model can't be asked at all, and says which stand-in may have been meant."""
        if self.name in STAND_INS:
            return
        try:
            check_models(make_context(**{**settings, "model": self.name}))
        except InputError as error:
            meant = get_close_matches(self.name, STAND_INS, 1)
            raise InputError(f"{error}{f'; did you mean {meant[0]!r}?' if meant else ''}") from error

    def check(self, sets: Sequence[TaskSet]) -> None:
        """Raises `InputError` where a set has nothing that this model could say."""
        for one in sets:
            if self.name == "recorded" and not one.recorded:
                raise InputError(f"no model was recorded on {one.name}, only on: {', '.join(_RECORDED)}")
            if self.simulated and (one.recorded or one.judged == "own"):
                why = "its answers were recorded" if one.recorded else "nobody says what would be right to say"
                raise InputError(f"{self.name} has no gold for {one.name}: {why}; name a model, or other sets")
