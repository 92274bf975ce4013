"""A recorded run that is served back whole: models, tools and people answer as they did, and nothing is touched.

Steps that ran side by side may come in another order: a call is known by step, tool and arguments, a request by its
content. The first thing that differs is kept; what only follows from it is not looked for.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import messages_from_dict

from nodes.calls import Call, Outcome
from nodes.frame import essence, stand_in
from nodes.recorded_entries import entries_that_count
from nodes.recording import redacted
from nodes.replay import Entry, ReplayModel, difference, read_lines
from state.context import Context, make_context
from state.errors import InputError
from state.report import Report
from state.request import Request
from state.result import failure

if TYPE_CHECKING:
    from nodes.run import Run

_TICK = 1e-6


class Recorded:
    """One recorded run and what of it is left to be served; used up by one replay."""

    def __init__(self, entries: list[Entry]) -> None:
        first = next((entry for entry in entries if "begin" in entry), None)
        if first is None:
            raise InputError("the recording has no beginning, only exchanges: it can't be replayed as a whole")
        self.told: dict[str, Any] = first["begin"]
        begins = max(place for place, entry in enumerate(entries) if "begin" in entry or "fork" in entry)
        self.fork: dict[str, Any] | None = entries[begins].get("fork")
        """Where a run begins that is the fork of another: the state, and the node before it."""
        self.entries = entries_that_count(entries[begins:])
        self.differences: list[str] = []
        self._time: float = self.entries[0]["at"]
        self.ran_out = False
        """Whether the run came to where a recording that was cut off ends."""
        self._asked = [entry for entry in self.entries if "request" in entry]
        self._replies_used: set[int] = set()
        self._used: set[int] = set()
        self._models: dict[str, list[ReplayModel]] = {}

    def _use(self, place: int) -> None:
        self._used.add(place)
        self._passes(self.entries[place])

    def _passes(self, entry: Entry) -> None:
        self._time = max(self._time, entry["at"])

    def now(self) -> float:
        """When what was served last had happened, in seconds since the epoch; no moment is told twice."""
        self._time += _TICK
        return self._time

    @property
    def request(self) -> Request:
        """The request as it was frozen, also by a fork, but for the database that it may not touch."""
        request: Request = (self.fork["values"] if self.fork else self.told)["request"]
        return {**request, "settings": {**request["settings"], "database": None}}

    @property
    def artefacts(self) -> list[Any]:
        """Large values that are there from the beginning."""
        return list((self.fork or self.told).get("artefacts", {}).values())

    @property
    def cut(self) -> bool:
        """Whether the recording ends in the middle."""
        return not {"end", "pause"} & self.entries[-1].keys()

    @property
    def exchanges(self) -> dict[str, int]:
        """How much was recorded of what."""
        calls, answers = (sum(name in entry for entry in self.entries) for name in ("outcome", "answer"))
        return {"model": len(self._asked), "tool": calls, "answer": answers}

    def context(self, home: str, own: Mapping[str, Any]) -> Context:
        """The settings of the run, with an empty home; its tools are stood in for unless `own` has them."""
        known = {name: value for name, value in self.told["context"].items() if name in Context.model_fields}
        tools = [stand_in(tool) for tool in self.told["tools"]]
        here = {"home": home, "telemetry": False, "replay": self}
        return make_context(**{**known, **self.told["models"], "tools": tools, **own, **here})

    def models(self, role: str) -> list[ReplayModel]:
        """The models that play a role, in the order in which they were asked."""
        if role not in self._models:
            names = self.told["models"][role]
            asked = [entry["model"] for entry in self._asked if entry["role"] == role]
            self._models[role] = [self._model(asked[0] if len(names) == 1 and asked else one, role) for one in names]
        return self._models[role]

    def _model(self, name: str, role: str) -> ReplayModel:
        """One model; of "maker:name" the recording has only the name."""
        only = next((entry["model"] for entry in self._asked if entry["model"] == name.partition(":")[2]), name)

        def tell(why: str) -> None:
            self._differs(f"{role}: {why}", lambda entry: entry.get("role") == role)

        model = ReplayModel(model_name=only, entries=[], only=only)
        model.entries = self._asked  # not copied
        return model.share(self._replies_used, tell, self._passes)

    async def outcome(self, planned: Call, run: "Run") -> Outcome:
        """What came of this very call; the replay's end of `call`."""
        found = next(
            ((place, entry) for place, entry in self._calls(planned) if entry["args"] == redacted(planned.args)), None
        )
        if found is None:
            why = self._no_such(planned)
            self._differs(why, lambda entry: entry.get("step") == planned.step["id"])
            return Outcome("failed", planned.args, failure=failure("permanent", f"replay: {why}"))
        place, entry = found
        self._use(place)
        self._book_models(planned, place, run)
        while planned.recheck and self._fact(f"lease of {planned.step['id']}", place) is not None:
            await planned.recheck()
        outcome = Outcome(args=planned.args, **entry["outcome"])
        run.meter.saw_tool_calls(outcome.attempts)
        return outcome

    def has_outcome(self, step: str) -> bool:
        """Whether an outcome of a step is left to be served."""
        left = (entry for place, entry in enumerate(self.entries) if place not in self._used and "outcome" in entry)
        return any(entry["step"] == step for entry in left)

    def fact(self, what: str) -> Any:
        """What was remembered by that name, each once."""
        place = self._fact(what, len(self.entries))
        if place is None:
            return None
        self._use(place)
        return self.entries[place]["value"]

    def answer(self, ask: str) -> Entry | None:
        """What a person answered to a question, each answer once; None where it was left open."""
        for place, entry in enumerate(self.entries):
            if entry.get("answer") == ask and place not in self._used:
                self._use(place)
                return entry
        return None

    @property
    def served(self) -> list[list[Any]]:
        """Step, tool and arguments of every call that was served."""
        calls = [self.entries[place] for place in sorted(self._used) if "outcome" in self.entries[place]]
        return [[call["step"], call["tool"], call["args"]] for call in calls]

    def other_exchange(self) -> str:
        """The first exchange that is not as it was recorded; empty if all are."""
        return next(iter(self.differences or ([] if self.ran_out else self._left())), "")

    def other_end(self, report: Report) -> str:
        """How the end is not as it was recorded; empty if it is, or if none was recorded."""
        last, now = self.entries[-1], redacted(essence(report))
        if "pause" in last:
            before = last["pause"]["reason"]
            return "" if before == now["stop"] else f"the end: recorded {before!r}, now {now['stop']!r}"
        if self.ran_out or last.get("end", now) == now:
            return ""
        return f"the end: {difference(last['end'], now)}"

    def _left(self) -> list[str]:
        """What was recorded and never came; what a tool itself asked goes with the tool."""
        replies = [
            f"a request of the {entry['role']} was recorded that did not come"
            for place, entry in enumerate(self._asked) if place not in self._replies_used and not entry["step"]
        ]  # fmt: skip
        others = [
            f"the call of {entry['tool']} in step {entry['step']} was recorded and did not come" if "tool" in entry
            else f"the answer to {entry['answer']} was recorded and nobody asked"
            for place, entry in enumerate(self.entries)
            if place not in self._used and ("outcome" in entry or "answer" in entry)
        ]  # fmt: skip
        return replies + others

    def _differs(self, why: str, of_kind: Callable[[Entry], bool]) -> None:
        """Nothing more of a kind in a recording that was cut off is its end, no difference."""
        left = [e for place, e in enumerate(self.entries) if place not in self._used and "outcome" in e]
        left += [e for place, e in enumerate(self._asked) if place not in self._replies_used]
        if self.cut and not any(of_kind(entry) for entry in left):
            self.ran_out = True
        else:
            self.differences.append(why)

    def _calls(self, planned: Call) -> list[tuple[int, Entry]]:
        wanted = (planned.step["id"], planned.part, planned.tool.name)
        return [
            (place, entry)
            for place, entry in enumerate(self.entries)
            if "outcome" in entry and place not in self._used
            if (entry["step"], entry["part"], entry["tool"]) == wanted
        ]

    def _no_such(self, planned: Call) -> str:
        name, step = planned.tool.name, planned.step["id"]
        if left := self._calls(planned):
            return f"step {step}, call of {name}: {difference(left[0][1]['args'], redacted(planned.args), 'args')}"
        return f"step {step}: a call of {name} came that was not recorded"

    def _fact(self, what: str, before: int) -> int | None:
        entries = enumerate(self.entries[:before])
        return next((n for n, entry in entries if entry.get("fact") == what and n not in self._used), None)

    def _book_models(self, planned: Call, before: int, run: "Run") -> None:
        """What the tool itself had asked of a model: that is spent as well."""
        earlier = {id(entry) for entry in self.entries[:before]}
        for place, entry in enumerate(self._asked):
            if id(entry) in earlier and entry["step"] == planned.step["id"] and place not in self._replies_used:
                self._replies_used.add(place)
                if "reply" in entry:
                    run.meter.saw_model_call()
                    run.book(entry["role"], messages_from_dict([entry["reply"]])[0], entry["model"], entry["step"])


def read_run(file: str | Path, run: str | None = None) -> Recorded:
    """A run of a recording, by the id of its request; the last one if none is named. Blocking."""
    entries = read_lines(str(file))
    wanted = entries[-1]["run"] if run is None else run
    return Recorded([entry for entry in entries if entry["run"] == wanted])
