"""Which of several equal writes a call is, so that the journal tells an intended one from a repeated one.

A version of a plan names what is to be done. Equal writes in it are as many writes; those beyond what earlier versions
still owed repeat writes that were done (`docs/decisions/0006-equal-writes-in-a-plan.md`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from nodes.answers import call_mark
from nodes.board import Board
from state.errors import ReferenceMissing
from state.plan import Step, canonical
from state.references import references
from state.result import Made, Result
from tools.exact import exact
from tools.tool import Tool


@dataclass(frozen=True)
class Places:
    """The places of other writes, as one call sees them; `own` are earlier calls of the same step."""

    board: Board
    step: Step
    own: tuple[Made, ...] = ()
    tried: tuple[str, ...] = ()
    """Fingerprints of earlier calls of the same step, whatever became of them."""
    rest: Sequence[dict[str, Any]] = ()
    """Arguments of the parts of the same step that come after."""
    chosen: bool = False
    """Whether a person gave the call its arguments, and so means it."""

    def after(self, made: Iterable[Made], call: str) -> "Places":
        """The same for the next call of this step."""
        return replace(self, own=(*self.own, *made), tried=(*self.tried, call))

    async def nth(self, tool: Tool, args: dict[str, Any]) -> int:
        """Which of the equal writes of this request the call is, from 1; the same however often it is asked."""
        same = fingerprint(tool, args)
        held = {one["nth"] for one in (*self._made(earlier=False), *self.own) if one["call"] == same}
        done = sorted({one["nth"] for one in self._made(earlier=True) if one["call"] == same} - held)
        if done and await self._repeats(same, tool, args):
            return done[0]
        return next(place for place in count(1) if place not in held and place not in done)

    def _made(self, *, earlier: bool) -> Iterable[Made]:
        """What other steps made: those of earlier versions, or those of this one."""
        for name, result in self.board.results.items():
            if name != self.step["id"] and self._is_earlier(result) is earlier:
                yield from result.get("made", ())

    def _is_earlier(self, result: Result) -> bool:
        """A turn knows all that was done before it, as a new version of a plan does."""
        return self._in_turn or (bool(self.board.earlier) and result["plan_version"] < self.step["version"])

    @property
    def _in_turn(self) -> bool:
        return "again" in self.step

    async def _repeats(self, same: str, tool: Tool, args: dict[str, Any]) -> bool:
        """Whether this is one of the first equal writes of its version, of which there are more than are still owed."""
        if self._in_turn and (self.step["again"] or self.chosen):
            return False
        line = [] if self._in_turn else self.board.before(self.step)
        before = [name for name in line if name in self.board.results]
        nth = 1 + [*(call for name in before for call in self.board.results[name]["calls"]), *self.tried].count(same)
        behind = [] if self._in_turn else self.board.behind(self.step)
        later = sum([await self._intends(step, same, tool, args) for step in behind])
        later += sum(may_be(exact(one, tool.args_schema), exact(args, tool.args_schema)) for one in self.rest)
        done = len({one["nth"] for one in self._made(earlier=True) if one["call"] == same})
        versions = [plan["steps"] for plan in self.board.earlier] + [[*self.board.steps.values()]] * self._in_turn
        intended = [await self._intended(steps, same, tool, args) for steps in versions]
        owed = max(0, max(intended, default=0) - done)
        return nth <= min(done, nth + later - owed)

    async def _intended(self, steps: Iterable[Step], same: str, tool: Tool, args: dict[str, Any]) -> int:
        """How many equal writes a version of the plan meant, whether they were made or not.

        What a turn asked for and did not get it may have asked for again: nothing is owed there.
        """
        made: set[int] = set()
        unmade = 0
        for step in steps:
            result = self.board.results.get(step["id"])
            here = {one["nth"] for one in (result.get("made", ()) if result else ()) if one["call"] == same}
            made |= here
            if "again" in step:
                continue
            if result and (result["calls"] or result["status"] == "skipped"):
                unmade += max(0, result["calls"].count(same) - len(here))
            else:
                unmade += await self._intends(step, same, tool, args)
        return len(made) + unmade

    async def _intends(self, step: Step, same: str, tool: Tool, args: dict[str, Any]) -> int:
        """How many calls of a step that has not run may be this one."""
        if step["tool"] != tool.name:
            return 0
        wanted = exact(args, tool.args_schema)
        drafts = [exact(one, tool.args_schema) for one in await self._drafts(step)]
        return sum(may_be(draft, wanted) for draft in drafts)

    async def _drafts(self, step: Step) -> list[dict[str, Any]]:
        """The arguments of a step's calls, as far as they are known."""
        try:
            items = await self.board.resolve(step["each"]) if step["each"] else [None]
            return [await self.board.resolve(step["args"], item) for item in items]
        except (ReferenceMissing, TypeError):
            return [step["args"]]


def fingerprint(tool: Tool, args: Mapping[str, Any]) -> str:
    """The same for every call of a tool that means the same, however its arguments are written."""
    return call_mark(tool.name, args, tool.args_schema)


def may_be(draft: Any, wanted: Any) -> bool:
    """Whether arguments, in which references may still stand, can become these."""
    if isinstance(draft, str) and references(draft):
        return True
    if isinstance(draft, dict) and isinstance(wanted, dict):
        return draft.keys() == wanted.keys() and all(may_be(draft[key], wanted[key]) for key in draft)
    if isinstance(draft, list) and isinstance(wanted, list):
        return len(draft) == len(wanted) and all(map(may_be, draft, wanted))
    return canonical(draft) == canonical(wanted)
