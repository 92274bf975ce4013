"""The board of one round: which steps have which results, and what a step that waits may do next."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nodes.inputs import content, contents
from state.conditions import holds
from state.errors import ReferenceMissing
from state.plan import RESERVED, Plan, Step, calls_of, needs
from state.references import references, resolve
from state.result import FINISHED, Failure, Result, Status, failure
from tools.artefacts import load
from tools.tool import Tool

Held = tuple[Status, Failure | None, str]


class Board:
    """Results of earlier rounds, and the futures of this one."""

    def __init__(
        self,
        results: Mapping[str, Result],
        inputs: Mapping[str, Any],
        home: str,
        steps: Iterable[Step] = (),
        earlier: Sequence[Plan] = (),
    ) -> None:
        self.steps = {step["id"]: step for step in steps}
        self.earlier = earlier
        self.keys: dict[str, str] = {}
        """Keys in the journal of writes that have one of their own, by step."""
        self.results: dict[str, Result] = dict(results)
        self._inputs = dict(inputs)
        self._home = home
        self._futures: dict[str, asyncio.Future[Result]] = {}
        self._line: dict[int, list[str]] = {}

    def take_inputs(self, inputs: Mapping[str, Any]) -> None:
        """The inputs that references may name."""
        self._inputs = dict(inputs)

    def expect(self, step: Step, future: asyncio.Future[Result]) -> None:
        """Announces a step of this round."""
        self._futures[step["id"]] = future

    def line_up(self, step: Step, tools: Mapping[str, Tool]) -> None:
        """Puts a step that may write into the line of its plan version: effects happen in the order of the plan."""
        line = self._line.setdefault(step["version"], [])
        if may_write(step, tools) and step["id"] not in line:
            line.append(step["id"])

    def before(self, step: Step) -> list[str]:
        """Steps of the same plan version that stand before this one in the line of writes, also of earlier rounds."""
        line = self._line.get(step["version"], [])
        return line[: line.index(step["id"])] if step["id"] in line else []

    def behind(self, step: Step) -> list[Step]:
        """Steps of the same plan version that stand behind this one in that line."""
        line = self._line.get(step["version"], [])
        names = line[line.index(step["id"]) + 1 :] if step["id"] in line else []
        return [self.steps[name] for name in names if name in self.steps]

    def below(self, step: Step) -> list[str]:
        """Every step that this one rests on, through however many steps between."""
        found, left = dict.fromkeys(needs(step)), list(needs(step))
        while left:
            source = self.steps.get(left.pop())
            more = [name for name in (needs(source) if source else []) if name not in found]
            found |= dict.fromkeys(more)
            left += more
        return list(found)

    async def settled(self, names: Iterable[str]) -> None:
        """Waits until each of these steps has a result of this round, where it is part of it."""
        for name in names:
            if (future := self._futures.get(name)) is not None:
                self.results[name] = await future

    async def held(self, step: Step) -> Held | None:
        """Why a step can't run now: something it needs failed, was skipped, or is not there yet; or its own guard."""
        if not step["when"]:
            return self._held(step)
        return await asyncio.to_thread(self._held, step)  # a guard may come from a model, and may take its time

    def _held(self, step: Step) -> Held | None:
        for name in needs(step):
            status = self.results[name]["status"] if name in self.results else "not_run"
            if status in ("failed", "blocked"):
                return "blocked", failure("upstream", f"needs step {name!r}, which {_did(status)}"), ""
            if status in ("waiting", "unknown", "not_run"):
                return "not_run", None, f"waits for step {name!r} ({status})"
            if status == "skipped" and name in references([step["args"], step["each"]]):
                return "skipped", None, f"step {name!r} was skipped"
        if held := self._guard(step):
            return held
        undecided = self.undecided(step) if step["effect"] == "write" else None
        return ("failed", undecided, "") if undecided else None

    def undecided(self, step: Step) -> Failure | None:
        """Why a write of this step may not run: it rests on a condition that nobody could decide."""
        for name in self.below(step):
            checks = self.results[name]["checks"] if name in self.results else []
            if undecided := [check["condition"] for check in checks if check["outcome"] == "unverified"]:
                why = f"rests on step {name!r}, whose condition could not be decided: {undecided[0]}"
                return failure("acceptance", why)
        return None

    def _guard(self, step: Step) -> Held | None:
        if not step["when"]:
            return None
        try:
            inputs = {name: content(one, self._home) for name, one in self._inputs.items()}
            if holds(step["when"], {"inputs": inputs, **self._outputs(needs(step))}):
                return None
        except (ValueError, ReferenceMissing) as error:
            return "failed", failure("bad_reference", str(error)), ""
        return "skipped", None, f"condition not met: {step['when']}"

    async def resolve(self, value: Any, item: Any = None) -> Any:
        """Puts results in the place of references; large ones are read from their artefacts."""
        names = [name for name in references(value) if name not in RESERVED]
        if any(self.results[name]["artefact"] for name in names if name in self.results):
            outputs = await asyncio.to_thread(self._outputs, names)
        else:
            outputs = self._outputs(names)
        inputs = await self.given() if "inputs" in references(value) else {}
        return resolve(value, {**outputs, "inputs": inputs, "item": item})

    async def given(self) -> dict[str, Any]:
        """The caller's inputs, with what kept results hold."""
        return await contents(self._inputs, self._home)

    def _outputs(self, names: list[str]) -> dict[str, Any]:
        return {name: self._output(name) for name in names}

    def _output(self, name: str) -> Any:
        result = self.results.get(name)
        if result is None or result["status"] not in FINISHED | {"skipped"}:
            raise ReferenceMissing(f"${{steps.{name}}}", "the step has no result")
        return load(result["artefact"], self._home) if result["artefact"] else result["output"]


def may_write(step: Step, tools: Mapping[str, Tool]) -> bool:
    """Whether one of the calls that a step may make changes something."""
    return any(name in tools and tools[name].effect == "write" for name, _ in calls_of(step))


def _did(status: Status) -> str:
    return "failed" if status == "failed" else "was blocked itself"
