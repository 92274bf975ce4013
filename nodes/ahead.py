"""Steps that begin while their plan is still being written; when it is whole the executor takes them over.

What begins are reads that no person must approve and that need nothing but finished steps and each other, while the
plan so far has no finding. What the whole plan no longer holds, or holds otherwise, is stopped and does not count. So
it may only have been in vain; it is never wrong. Leaves out: writes and parts of a map, which wait for the whole plan.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from langgraph.config import get_config

from nodes.board import Board, may_write
from nodes.drafting import new_steps
from nodes.plan_check import Finding
from nodes.reading.coming import Coming
from nodes.recording import note
from nodes.run import Run
from nodes.steps import run_step
from nodes.versions import findings_so_far, refused
from nodes.wire.assembly import Piece
from state.channels import Approvals, Plans, Results
from state.plain import plain
from state.plan import Plan, PlanDraft, Step, calls_of, canonical, needs, step_hash
from state.result import Result, is_finished
from tools.catalogue import Catalogue
from tools.constraints import must_be_approved
from tools.policy import needs_approval

GRACE = 10.0
"""Seconds that steps go on without an executor: it comes next, unless the run has ended or was cut in between."""
LEAVE = 0.5
"""Seconds that a stopped step gets to end."""
_waiting: dict[tuple[str, str], "Ahead"] = {}
"""What waits for the executor of a run, which is a node of its own."""


@dataclass(frozen=True)
class Begun:
    """A step that has begun; it gives None where it could not, and then the executor runs it."""

    step: Step
    hash: str
    task: "asyncio.Task[Result | None]"


class Ahead:
    """Hears a plan while it comes; `settle` it with the plan, then the executor takes over what is left."""

    def __init__(self, run: Run, plans: Plans, results: Results, approvals: Approvals) -> None:
        self.run = replace(run, ahead=None, plan_version=plans[-1]["version"] + 1 if plans else 1, events=[])
        self.tools = run.tools
        self.read: Callable[[PlanDraft], PlanDraft] = lambda draft: draft
        """Reads the planner's notation."""
        self._planner, self._plans, self._results, self._approvals = run, plans, results, approvals
        self._context = copy_context()
        self._begun: dict[str, Begun] = {}
        self._board = Board(results, {}, run.context.home_folder(), (), plans)
        self._done_before = {canonical([step["tool"], step["args"]]) for plan in plans for step in plan["steps"]}
        self._timer: asyncio.TimerHandle | None = None
        self.begin()

    def offers(self, tools: Catalogue) -> None:
        """The tools that the planner is told of, and the inputs as they are now."""
        self.tools, self.run.request = tools, self._planner.request
        self._board.take_inputs(self.run.request["inputs"])

    def begin(self) -> None:
        """A reply is asked for, perhaps again: what has begun goes on, and is the same step if it comes again."""
        self._so_far: list[Step] = []
        self._is_sound = True
        self._coming = Coming("steps"), Coming("steps")

    def hear(self, piece: Piece) -> None:
        """Begins with the steps that have become whole."""
        for coming, text in zip(self._coming, (piece.text, piece.args), strict=True):
            for raw in coming.push(text) if text and self._is_sound else ():
                self._is_sound = self._is_sound and self._take(raw)

    def _take(self, raw: Any) -> bool:
        """Begins with a step if it may; gives whether the plan so far is one that could run."""
        try:
            draft = self.read(PlanDraft.model_validate({"steps": [plain(raw)]}))
        except ValueError:
            return False
        if any(one.id in self._results for one in draft.steps):
            return False  # it gets a fresh id, or is finished; that shows when all steps are known
        [step] = new_steps(draft, self.run.plan_version, {}, self.run.tools)
        self._so_far.append(step)
        if findings_so_far(self._so_far, self._results, self.run, self.tools):
            return False
        if before := self._begun.get(step["id"]):
            return before.hash == step_hash(step)
        if self._may_begin(step):
            self._start(step)
        return True

    def _may_begin(self, step: Step) -> bool:
        if step["each"] or may_write(step, self.run.tools) or self._needs_a_person(step):
            return False
        if canonical([step["tool"], step["args"]]) in self._done_before:
            return False  # a plan that only does it again is refused, or pauses first
        return all(name in self._begun or is_finished(name, self._results) for name in needs(step))

    def _needs_a_person(self, step: Step) -> bool:
        tools = [self.run.tools[name] for name, _ in calls_of(step)]
        constraints = self.run.request["constraints"]
        return any(needs_approval(tool, self.run.context) or must_be_approved(tool, constraints) for tool in tools)

    def _start(self, step: Step) -> None:
        # in the planner node's own context: what is set around the call of its model is not the step's
        task = asyncio.get_running_loop().create_task(self._run(step), context=self._context.copy())
        self._begun[step["id"]] = Begun(step, step_hash(step), task)
        self._board.steps[step["id"]] = step
        self._board.expect(step, task)  # type: ignore[arg-type] # who needs one that gives None gives None as well

    async def _run(self, step: Step) -> Result | None:
        if await refused([step], self.tools):
            return None
        for name in needs(step):
            if name in self._begun and await self._begun[name].task is None:
                return None
        return await run_step(step, self._board, self._approvals, self.run)

    def reject(self, findings: Iterable[Finding]) -> None:
        """Stops the steps that findings are about; what depends on a stopped step stops with it."""
        for name in {one["step"] for one in findings} & self._begun.keys():
            self._begun[name].task.cancel()

    async def settle(self, plan: Plan | None) -> None:
        """Keeps what stands in the plan as it began, stops everything else, and waits for the executor."""
        steps = {step["id"]: step_hash(step) for step in plan["steps"]} if plan else {}
        kept: dict[str, Begun] = {}
        for name, one in self._begun.items():
            whole = all(other in kept for other in needs(one.step) if other in self._begun)
            if whole and not one.task.cancelling() and steps.get(name) == one.hash:
                kept[name] = one
        await self._withdraw([one for name, one in self._begun.items() if name not in kept])
        self._begun = kept
        if kept:
            _waiting[_place(self.run)] = self
            self._timer = asyncio.get_running_loop().call_later(GRACE, self._expire)

    async def _withdraw(self, dropped: list[Begun]) -> None:
        """Stops steps; their calls were made and count as such, the steps do not."""
        for one in dropped:
            one.task.cancel()
        if not dropped:
            return
        await asyncio.wait([one.task for one in dropped], timeout=LEAVE)
        for one in dropped:
            ended = one.task.done() and not one.task.cancelled()
            result = one.task.result() if ended else None
            self.run.meter.drop_step(one.step["id"], failed=result is not None and result["status"] == "failed")
        names = [one.step["id"] for one in dropped]
        self._planner.event("steps_withdrawn", reason="the plan came without them", evidence=names, next="planner")
        await note(self._planner, withdrawn=names)

    def _expire(self) -> None:
        if _waiting.get(_place(self.run)) is self:
            del _waiting[_place(self.run)]
        self.close()

    def close(self) -> None:
        """Stops whatever still runs."""
        if self._timer:
            self._timer.cancel()
        for one in self._begun.values():
            one.task.cancel()

    async def stop(self) -> None:
        """The same, and lets it come to its end."""
        self.close()
        if left := [one.task for one in self._begun.values() if not one.task.done()]:
            await asyncio.wait(left, timeout=LEAVE)

    def task_of(self, step: str, content: str) -> "asyncio.Task[Result | None] | None":
        """The step's own beginning, if there is one; `content` is the hash of what it does."""
        one = self._begun.get(step)
        return one.task if one and one.hash == content else None

    def belongs_here(self) -> bool:
        """Whether it runs on this event loop."""
        return all(one.task.get_loop() is asyncio.get_running_loop() for one in self._begun.values())


def may_begin(run: Run) -> bool:
    """Whether steps may begin before their plan is whole: nobody has to see it first, and all of it runs at once."""
    context = run.context
    asked = context.dry_run or context.approve_plan != "never" or context.reach != "plan"
    return context.stream_plan and not asked and not run.replay


def take_over(run: Run) -> Ahead | None:
    """What began before the plan of this run was whole; the run goes on with its meter, slots and events."""
    ahead = _waiting.pop(_place(run), None)
    if ahead is None or not ahead.belongs_here():
        return None
    if ahead._timer:
        ahead._timer.cancel()
    run.meter, run.slots, run.events, run.asked = ahead.run.meter, ahead.run.slots, ahead.run.events, ahead.run.asked
    return ahead


async def stop_ahead(run: Run) -> None:
    """Stops what nobody took over, where a run ends without its plan being run."""
    if ahead := _waiting.pop(_place(run), None):
        await ahead.stop()


def _place(run: Run) -> tuple[str, str]:
    """A run in this process: a fork has the request of another thread."""
    return run.request["id"], str(get_config().get("configurable", {}).get("thread_id", ""))
