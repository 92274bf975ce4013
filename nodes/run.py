"""What a node works with besides its slice of state: settings, tools, meter, journal and the event log of this run."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from nodes.memo import Memo, memo_of_call
from nodes.meter import Meter
from nodes.settings import get_context, tools_of
from nodes.solving import solve_tool
from nodes.stricter import stricter
from nodes.telemetry import Telemetry, telemetry_of
from state.context import Context
from state.errors import SetupError
from state.events import Event, event_record
from state.lesson import ToldLesson
from state.limits import Limits
from state.request import Request, pattern_of
from state.result import Result
from state.stop_when import with_objects
from state.usage import RoleUsage, no_usage
from state.value import Weights
from tools.catalogue import Catalogue
from tools.journal import Journal
from tools.journals import database_of, journal_of

if TYPE_CHECKING:
    from nodes.ahead import Ahead
    from nodes.recorded import Recorded


@dataclass
class Run:
    """One node's view of a run."""

    request: Request
    context: Context
    meter: Meter
    tools: Catalogue
    write: Any
    plan_version: int = 0
    events: list[Event] = field(default_factory=list)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))
    resumable: bool = False
    live: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    untrusted: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    telemetry: Telemetry | None = None
    store: BaseStore | None = None
    lessons: dict[str, ToldLesson] = field(default_factory=dict)
    memo: Memo = field(default_factory=Memo)
    ahead: "Ahead | None" = None
    """Steps that begin while the plan is still being written."""

    @property
    def replay(self) -> "Recorded | None":
        """What is served instead of models, tools and people, if this run is replayed."""
        return self.context.replay  # type: ignore[no-any-return]

    def had_begun(self, step: str) -> bool:
        """Whether a step of a replayed run had begun in the run that was recorded."""
        return self.replay is not None and self.replay.has_outcome(step)

    @property
    def limits(self) -> Limits:
        """The limits, as frozen when the request began."""
        return self.context.limits

    @property
    def language(self) -> str:
        """The language of the prompts: en or zh."""
        return self.request["language"]

    @property
    def journal(self) -> Journal:
        """The journal of writes."""
        return journal_of(self.context)

    def within(self, seconds: float, *, answer: bool = False) -> float:
        """A time-out that does not reach beyond the run's own deadline, nor into the time kept for the answer."""
        left = self.meter.remaining(answer=answer)
        return seconds if left is None else min(seconds, left)

    def event(
        self, event: str, *, step: str = "", reason: str = "", evidence: list[Any] | None = None, next: str = ""
    ) -> None:
        """Logs an event, and sends it to whoever watches."""
        record = self.show(event, step=step, reason=reason, evidence=evidence, next=next)
        self.events.append(record)

    def show(
        self, event: str, *, step: str = "", reason: str = "", evidence: list[Any] | None = None, next: str = ""
    ) -> Event:
        """Sends an event to whoever watches, without keeping it."""
        record = event_record(
            self.request["id"], event, plan_version=self.plan_version, step=step, reason=reason, evidence=evidence,
            next=next,
        )  # fmt: skip
        self.write(record)
        if self.telemetry:
            self.telemetry.saw(record)
        return record

    def book(self, role: str, message: Any, model: str, step: str = "") -> None:
        """Books what a reply says it used; what it doesn't say is unknown."""
        used = getattr(message, "usage_metadata", None) or {}
        tokens_in, tokens_out = used.get("input_tokens"), used.get("output_tokens")
        free = 0 if model == "offline" else None
        spent: RoleUsage = {
            "calls": 1,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cached": (used.get("input_token_details") or {}).get("cache_read", free),
            "reasoning": (used.get("output_token_details") or {}).get("reasoning", free),
            "money": self._money(model, tokens_in, tokens_out) if free is None else 0.0,
        }
        # a planner's call belongs to the version that it writes
        plan = self.plan_version + (role == "planner")
        self.meter.add_model(role, spent, plan=plan, step=step)
        self.show("model_called", step=step, evidence=[role, spent, plan])

    def _money(self, model: str, tokens_in: int | None, tokens_out: int | None) -> float | None:
        price = self.context.prices.get(model)
        if price is None or tokens_in is None or tokens_out is None:
            return None
        return (price.tokens_in * tokens_in + price.tokens_out * tokens_out) / 1_000_000


WITHOUT_WORDS = ("one_shot", "plan_and_solve", "workflow", "reflection")
"""Patterns that have their answer when the last step or draft is there: no call of a model is kept for it."""
OWN_TOOLS = {"plan_and_solve": solve_tool}
"""Patterns whose steps call a tool of their own instead of those that the run is given."""


def open_run(state: Mapping[str, Any], runtime: Runtime[Any]) -> Run:
    """Builds the view from what state has frozen and what the context brings."""
    request: Request = state["request"]
    memo = memo_of_call()
    context = memo.of(settle, get_context(runtime), request["settings"])
    results: dict[str, Result] = state.get("results") or {}
    reserve = pattern_of(request) not in WITHOUT_WORDS or context.answer_schema is not None
    meter = Meter(state.get("usage") or no_usage(), context.limits, results, reserve=reserve)
    plans = state.get("plans") or [{"version": 0}]
    own = OWN_TOOLS.get(pattern_of(request))
    tools = Catalogue([own(request, state.get("plans") or [])]) if own else None
    return Run(
        request, context, meter, tools or memo.of(tools_of, context), runtime.stream_writer,
        plans[-1]["version"], slots=asyncio.Semaphore(context.concurrency), resumable=resumable(),
        telemetry=telemetry_of(context), store=runtime.store,
        lessons=dict(state.get("lessons") or {}), memo=memo,
    )  # fmt: skip


def settle(context: Context, frozen: Mapping[str, Any]) -> Context:
    """The context of this call with the settings of the request laid over it; a home with a full path stands.

    Where this call forbids more than the request did, that holds as well: a resume can tighten, never loosen.
    """
    frozen = _same_database(context, frozen)
    kept = {**frozen, **stricter(context, frozen)}
    kept["limits"] = Limits.model_validate(kept["limits"])
    kept["value"] = Weights.model_validate(frozen.get("value") or {})
    kept["stop_when"] = with_objects(context.stop_when, frozen.get("stop_when"))
    kept["record"] = None if context.replay else context.record or frozen.get("record")
    if context.home and os.path.isabs(context.home):
        kept["home"] = context.home
    return context.model_copy(update=kept)


def _same_database(context: Context, frozen: Mapping[str, Any]) -> dict[str, Any]:
    """What is frozen without its database, which must be that of this call: another journal knows of no write."""
    here, began = database_of(context), frozen.get("database")
    if here != began:
        words = [f"the database {place}" if place else "files in its home folder" for place in (began, here)]
        raise SetupError(
            f"this request keeps its journal of writes in {words[0]}, and this call has {words[1]}; "
            "give it the same (setting database, or FORETHOUGHT_DATABASE), else a write could happen twice"
        )
    return {name: value for name, value in frozen.items() if name != "database"}


def tightened(run: Run) -> dict[str, Any]:
    """What this call forbids more than the request did."""
    before = run.request["settings"]
    return {name: value for name, value in stricter(run.context, before).items() if value != before[name]}


def resumable() -> bool:
    """Whether this run is kept anywhere, so that it can wait for a person."""
    return bool(get_config().get("configurable", {}).get("__pregel_checkpointer"))
