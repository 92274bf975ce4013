"""One meter a run: it counts calls, tokens, money and time, and is asked before each spend."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from state.clock import ticks
from state.errors import BudgetSpent
from state.limits import Limits
from state.result import Result
from state.usage import RoleUsage, Usage, added, no_calls, no_usage, plus


class Meter:
    """Seeded from state; `usage()` is what goes back to it. Refuses a spend by raising `BudgetSpent`.

    With `reserve` it keeps one call of a model, as large as the largest so far, for the answer.
    """

    def __init__(
        self, usage: Usage, limits: Limits, results: Mapping[str, Result] | None = None, *, reserve: bool = False
    ) -> None:
        self._reserve = reserve
        self._usage: Usage = _copied({**no_usage(), **usage})
        self._limits = limits
        self._began = ticks()
        self._results = results or {}
        self._failed = 0
        self._begun: dict[str, str] = {}
        self._by_step: dict[str, RoleUsage] = {}
        self.lifted = False
        """Whether spending is only counted: undoing what a run did must not fail at the limit that ended it."""

    @cached_property
    def _calls(self) -> Counter[str]:
        """How often each call was made; looked up only where a step is to run, since it takes a look at all results."""
        return Counter(
            result["call"] for result in self._results.values() if result["attempts"] and result["status"] != "waiting"
        )

    @property
    def failures(self) -> int:
        """Steps that failed."""
        return self._failed + sum(result["status"] == "failed" for result in self._results.values())

    def seconds(self) -> float:
        """Seconds of work so far in the whole run."""
        return self._usage["seconds"] + ticks() - self._began

    def remaining(self, *, answer: bool = False) -> float | None:
        """Seconds left, or None without such a limit; only the answer may use those that are kept for it."""
        if self._limits.seconds is None or self.lifted:
            return None
        return max(0.0, self._limits.seconds - self.seconds() - self._kept("seconds", answer))

    def late(self, *, answer: bool = False) -> BudgetSpent:
        """What to raise when the time is over."""
        return BudgetSpent("seconds", self.seconds(), self._limits.seconds or 0.0, self._kept("seconds", answer))

    def before_model(self, *, answer: bool = False) -> None:
        """Reserves one call of a model; once there is a plan, the last one is left for the answer."""
        self._shared(answer)
        for limit, spent, allowed in (
            ("tokens", self._usage["tokens"], self._limits.tokens),
            ("money", self._usage["money"], self._limits.money),
            ("model_calls", self._usage["model_calls"], self._limits.model_calls),
        ):
            self._below(limit, spent, allowed, self._kept(limit, answer))
        self._usage["model_calls"] += 1

    def took(self, seconds: float) -> None:
        """Remembers how long a call of a model took."""
        self._grew("seconds", seconds)

    def before_step(self, call: str, *, step: str, had_begun: bool = False) -> None:
        """Reserves the running of one step; `call` is the fingerprint of tool and arguments.

        A step of a replayed run that `had_begun` did so before the failures of others beside it were known.
        """
        self._shared()
        if not had_begun:
            self._below("failures", self.failures, self._limits.failures)
        self._below("steps", self._calls.total(), self._limits.steps)
        self._below("same_call", self._calls[call], self._limits.same_call)
        self._below("tool_calls", self._usage["tool_calls"], self._limits.tool_calls)
        self._calls[call] += 1
        self._begun[step] = call

    def drop_step(self, step: str, *, failed: bool) -> None:
        """Forgets that a step ran, since no plan holds it; the calls that it made stay counted."""
        if step in self._begun:
            self._calls[self._begun.pop(step)] -= 1
        self._failed -= failed

    def before_tool(self) -> None:
        """Reserves one call of a tool; retries are calls too."""
        self._shared()
        self._below("tool_calls", self._usage["tool_calls"], self._limits.tool_calls)
        self._usage["tool_calls"] += 1

    def before_wait(self) -> None:
        """Asked while waiting for something: no spend, but time passes."""
        self._shared()

    def saw_failure(self) -> None:
        """Counts a failed step."""
        self._failed += 1

    def saw_tool_calls(self, count: int) -> None:
        """Counts calls that an earlier process made and recorded."""
        self._usage["tool_calls"] += count

    def saw_model_call(self) -> None:
        """Counts a call that was made before and is replayed."""
        self._usage["model_calls"] += 1

    def before_retry(self) -> None:
        """Counts that something is tried again."""
        self._usage["retries"] += 1

    def may_retry(self) -> bool:
        """Whether anything may be tried again in this run."""
        return self._limits.all_retries is None or self._usage["retries"] < self._limits.all_retries

    def add_model(self, role: str, used: RoleUsage, *, plan: int = 0, step: str = "") -> None:
        """Books what a model call used; None is unknown and never counts as zero in the report."""
        usage = self._usage
        tokens = plus(used["tokens_in"], used["tokens_out"])
        usage["tokens"] += int(tokens or 0)
        usage["unknown_tokens"] += tokens is None
        usage["money"] += used["money"] or 0.0
        self._grew("tokens", tokens or 0)
        self._grew("money", used["money"] or 0.0)
        usage["unknown_money"] += used["money"] is None
        self._tell_apart(role, used, plan, step)

    def add_failed(self, role: str, *, plan: int = 0, step: str = "") -> None:
        """Books a call that gave nothing, so that the calls of the roles are all that there were."""
        self._tell_apart(role, {**no_calls(), "calls": 1}, plan, step)

    def _tell_apart(self, role: str, used: RoleUsage, plan: int, step: str) -> None:
        for group, name in ((self._usage["roles"], role), (self._usage["plans"], str(plan)), (self._by_step, step)):
            if name:
                group[name] = added({**no_calls(), **group.get(name, no_calls())}, used)

    def of_step(self, step: str) -> RoleUsage:
        """What this node's calls of models for one step used."""
        return self._by_step.get(step, no_calls())

    def saw_model(self, used: RoleUsage, *, role: str = "executor", plan: int) -> None:
        """Books what was used elsewhere: by a step in an earlier process, by a node that was cut off."""
        if used["calls"]:
            self._usage["model_calls"] += used["calls"]
            self.add_model(role, used, plan=plan)

    def usage(self) -> Usage:
        """The usage so far, to be written to state."""
        return {**_copied(self._usage), "seconds": self.seconds()}

    def _grew(self, limit: str, amount: float) -> None:
        self._usage["largest"][limit] = max(self._usage["largest"].get(limit, 0), amount)

    def _kept(self, limit: str, answer: bool) -> float:
        """What is kept for the answer: a call as large as the largest; of the time never more than a quarter."""
        if answer or not self._reserve:
            return 0
        if limit == "model_calls":
            return 1 if self._usage["model_calls"] else 0
        most = self._usage["largest"].get(limit, 0)
        return min(most, (self._limits.seconds or 0) / 4) if limit == "seconds" else most

    def _shared(self, answer: bool = False) -> None:
        self._below("seconds", self.seconds(), self._limits.seconds, self._kept("seconds", answer))
        self._below("tokens", self._usage["tokens"], self._limits.tokens)
        self._below("money", self._usage["money"], self._limits.money)

    def _below(self, limit: str, spent: float, allowed: float | None, kept: float = 0) -> None:
        if allowed is not None and spent + kept >= allowed and not self.lifted:
            raise BudgetSpent(limit, spent, allowed, min(kept, max(0, allowed - spent)))


def _copied(usage: Usage) -> Usage:
    """Its own: what is in its mappings is replaced and never changed, so that they alone are copied."""
    return {**usage, "roles": {**usage["roles"]}, "plans": {**usage["plans"]}, "largest": {**usage["largest"]}}
