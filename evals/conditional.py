"""Conditional tasks: pairs of worlds that differ in one observation, and the task says what to do on either.

The text is the same in both, so a planner that has not looked can only presume one of them; it says so in `accept`.
Ours, not a public set; the tools are stubs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

from evals.stubs import made_up
from evals.tasks import Made, Task
from evals.truth import done_in_the_end
from state.plan import StepDraft, canonical
from tools.tool import Tool, ToolEnv

Args = Mapping[str, Any]


class Call(NamedTuple):
    """One call of a template; `{name}` in an argument is filled from the pair's own values."""

    tool: str
    args: Args


class Kind(NamedTuple):
    """A kind of task: what it says, what is looked at, and what follows from either observation."""

    text: str
    look: Call
    field: str
    conditions: tuple[str, str]
    """What the result of the look is in the first and in the second world."""
    ways: tuple[tuple[Call, ...], tuple[Call, ...]]
    values: tuple[tuple[Any, ...], tuple[Any, ...]]
    """What may be observed in the first and in the second world."""
    fillings: Mapping[str, tuple[str, ...]]


_PEOPLE = ("Ada Lark", "Ben Osei", "Chen Wei", "Dora Novak", "Emil Haas", "Farah Aziz")
KINDS: tuple[Kind, ...] = (
    Kind(
        "{who} wants the {what}. Look up how many are in stock. If there is at least one, reserve it for {who}, have "
        "it packed and tell {who} that it comes. If there is none, order it from {where}, put {who} on the waiting "
        "list and tell {who} that it takes longer.",
        Call("stock_of", {"item": "{what}"}), "in_stock", ("output.in_stock > 0", "output.in_stock == 0"),
        (
            (Call("reserve", {"item": "{what}", "customer": "{who}"}), Call("pack", {"item": "{what}"}),
             Call("tell", {"person": "{who}", "message": "it comes"})),
            (Call("order", {"item": "{what}", "supplier": "{where}"}), Call("wait_list", {"customer": "{who}"}),
             Call("tell", {"person": "{who}", "message": "it takes longer"})),
        ),
        ((3, 7, 12), (0,)),
        {"who": _PEOPLE, "what": ("blue kettle", "desk lamp", "oak shelf", "wool rug"), "where": ("Norsk AS", "Lumo")},
    ),
    Kind(
        "Look up the state of invoice {what} of {who}. If it is paid, file it under {where} and close the case {what}. "
        "If it is open, remind {who}, set a second date for {what} and note the case for {where}.",
        Call("invoice", {"number": "{what}"}), "state", ("output.state == 'paid'", "output.state == 'open'"),
        (
            (Call("file_away", {"number": "{what}", "folder": "{where}"}), Call("close_case", {"number": "{what}"})),
            (Call("remind", {"person": "{who}"}), Call("second_date", {"number": "{what}"}),
             Call("note_for", {"team": "{where}", "number": "{what}"})),
        ),
        (("paid",), ("open",)),
        {"who": _PEOPLE, "what": ("R-2041", "R-2077", "R-2103", "R-2118"), "where": ("accounting", "collections")},
    ),
    Kind(
        "Look up the forecast for {where}. If it stays dry, book the garden of {where} for {what}, order chairs for "
        "{what} and invite {who} to the garden. If it rains, book the hall of {where} for {what}, order heating for "
        "{what} and invite {who} to the hall.",
        Call("forecast", {"place": "{where}"}), "rain_mm", ("output.rain_mm < 1", "output.rain_mm >= 1"),
        (
            (Call("book", {"room": "garden of {where}", "event": "{what}"}), Call("order_chairs", {"event": "{what}"}),
             Call("invite", {"person": "{who}", "to": "garden"})),
            (Call("book", {"room": "hall of {where}", "event": "{what}"}), Call("order_heating", {"event": "{what}"}),
             Call("invite", {"person": "{who}", "to": "hall"})),
        ),
        ((0,), (4, 9, 17)),
        {"who": _PEOPLE, "what": ("summer fete", "book fair", "spring lunch"), "where": ("Aston", "Bell", "Cork")},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Conditional(Task):
    """A task whose gold plan follows from an observation; until it is made, a planner presumes one of the two."""

    branches: tuple[tuple[str, tuple[StepDraft, ...]], ...] = ()
    """What is observed, as a pattern, and the steps that do the task then; the first one is presumed."""

    def seen(self, told: Mapping[str, Any]) -> Task:
        """The task as one plans it who was told this: by the observation in it, else as presumed."""
        shown = canonical(told)
        met = [plan for pattern, plan in self.branches if re.search(pattern, shown)]
        return replace(self, gold=met[0] if met else self.branches[0][1])


class Pair(NamedTuple):
    """Two worlds that differ in one observation, and the place of the one that a planner presumes."""

    id: str
    worlds: tuple[Conditional, Conditional]
    presumed: int


def pairs(count: int = 60, seed: int = 0, *, guarded: bool = False) -> Iterator[Pair]:
    """Pairs of tasks, the same ones for the same seed; `guarded`: one plan holds both ways, each behind its `when`."""
    random = Random(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        filling = {name: random.choice(options) for name, options in kind.fillings.items()}
        case = Case(f"pair-{number}", kind, filling, tuple(random.choice(options) for options in kind.values))
        presumed = random.randrange(2)
        plans = [_guarded(case)] * 2 if guarded else [tuple(_plan(case, 0)), tuple(_plan(case, 1))]
        branches = tuple((_shown(case, place), plans[place]) for place in (presumed, 1 - presumed))
        yield Pair(case.name, (_world(case, 0, branches), _world(case, 1, branches)), presumed)


class Case(NamedTuple):
    """A kind with what is filled in, and what is observed in either world."""

    name: str
    kind: Kind
    filling: Mapping[str, str]
    observed: tuple[Any, ...]


def _shown(case: Case, place: int) -> str:
    """How the observation looks in a prompt, quoted and escaped as it may be."""
    quotes = r"[\"'\\]*"
    return rf"{case.kind.field}{quotes}: *{quotes}{case.observed[place]}(?!\w)"


def _plan(case: Case, place: int) -> Iterator[StepDraft]:
    """The look, held to what is presumed of it, and after it the one way."""
    look = _step(case, "s1", case.kind.look)
    yield look.model_copy(update={"accept": [case.kind.conditions[place]]})
    for number, call in enumerate(case.kind.ways[place], 1):
        yield _step(case, f"{'ab'[place]}{number}", call, after=["s1"])


def _guarded(case: Case) -> tuple[StepDraft, ...]:
    guards = [condition.replace("output", "steps.s1") for condition in case.kind.conditions]
    ways = [
        step.model_copy(update={"when": guards[place]}) for place in (0, 1) for step in list(_plan(case, place))[1:]
    ]
    return (_step(case, "s1", case.kind.look), *ways)


def _step(case: Case, name: str, call: Call, after: Sequence[str] = ()) -> StepDraft:
    return StepDraft(id=name, tool=call.tool, args=_filled(call, case.filling), after=list(after))


def _filled(call: Call, filling: Mapping[str, str]) -> dict[str, Any]:
    return {name: text.format(**filling) for name, text in call.args.items()}


# --- the worlds


def _world(case: Case, place: int, branches: tuple[tuple[str, tuple[StepDraft, ...]], ...]) -> Conditional:
    text = f"Case {case.name.removeprefix('pair-')}. {case.kind.text.format(**case.filling)}"
    steps = tuple(_plan(case, place))
    expected = {step.id: Made(_output(case, place, step.tool, step.args), step.args) for step in steps}
    tools = tuple(_tools(case, place))
    return Conditional(
        f"{case.name}{'ab'[place]}", text, tools, steps, lambda: dict(expected), done_in_the_end, branches=branches
    )


def _output(case: Case, place: int, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    if tool != case.kind.look.tool:
        return {"number": made_up(tool, args, {"type": "integer"})}
    known = args == _filled(case.kind.look, case.filling)
    return {case.kind.field: case.observed[place] if known else None}


def _tools(case: Case, place: int) -> Iterator[Tool]:
    calls = {call.tool: call for call in (case.kind.look, *case.kind.ways[0], *case.kind.ways[1])}
    for call in calls.values():
        looks = call is case.kind.look
        schema = {
            "type": "object", "properties": {name: {"type": "string"} for name in call.args},
            "required": list(call.args), "additionalProperties": False,
        }  # fmt: skip
        says = {case.kind.field: {}} if looks else {"number": {"type": "integer"}}
        yield Tool(
            call.tool, f"{'Looks up' if looks else 'Does'}: {call.tool.replace('_', ' ')}.", schema,
            partial(_run, case, place, call.tool), effect="read" if looks else "write",
            output_schema={"type": "object", "properties": says, "required": list(says)},
        )  # fmt: skip


async def _run(case: Case, place: int, tool: str, args: dict[str, Any], around: ToolEnv) -> dict[str, Any]:
    return _output(case, place, tool, args)
