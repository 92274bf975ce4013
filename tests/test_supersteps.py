"""A caller's own recursion limit: the run ends in a report before LangGraph ends it in an error."""

from collections.abc import Mapping
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START

import graphs
from graphs._given import SUPERSTEPS
from nodes.deciding import ROOM
from state.errors import InputError
from tests.support.endpoint import endpoint  # noqa: F401
from tests.support.model_server import ModelServer
from tests.support.runs import THREAD, TURNING, WHOLE_PLANS, critique, drafted, plan, step, turn
from tests.support.script import Reply
from tools.tool import write

STEPS = [step("a", "pay", amount=1), *[step(name, "pay", amount=n) for n, name in enumerate("bcdef", 2)]]
FIRST: dict[str, list[Reply]] = {
    **{pattern: [plan(*STEPS)] for pattern in WHOLE_PLANS},
    **{pattern: [turn("", "pay", amount=1)] for pattern in TURNING},
    "plan_and_solve": [
        Reply({"steps": ["a", "b", "c"]}, schema="outline", when="Role: outliner"), Reply("1", when="Role: executor")
    ],
    "reflection": [drafted("short"), critique("quality: too short")],
    "workflow": [],
}  # fmt: skip
"""What a model says until the first round is over."""
ASKS = {"agree", "approve"}
"""What waits for a person: the run is interrupted there, and the resume begins to count anew."""


class Till:
    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> int:
        """Pays."""
        self.paid.append(amount)
        return amount


@pytest.mark.parametrize("pattern", FIRST)
def test_it_ends_the_run_in_a_report_that_names_it(pattern: str, model_server: ModelServer) -> None:
    till = Till()
    context: dict[str, Any] = {"tools": [write(till.pay)], "writes": "allow", "check_after": "step"}
    context |= {"self_critique": True} if pattern == "reflection" else {"answerer": "offline"}
    context |= {"plan": {"goal": "g", "steps": STEPS}} if pattern == "workflow" else {}
    model_server.reply(*FIRST[pattern])
    graph = graphs.load(pattern, checkpointer=InMemorySaver(), context=context)
    report = graph.invoke({"task": "pay"}, {**THREAD, "recursion_limit": SUPERSTEPS})["report"]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("budget", "recursion_limit")
    assert f"of the {SUPERSTEPS} supersteps" in report["stop"]["message"]
    assert [one["output"] for one in report["results"] if one["tool"] == "pay" and one["attempts"]] == till.paid


def test_many_turns_end_at_it_with_what_was_done(model_server: ModelServer) -> None:
    till = Till()
    context = {"tools": [write(till.pay)], "writes": "allow", "answerer": "offline"}
    model_server.reply(*[turn("", "pay", amount=n) for n in range(4)], turn("", "pay", amount=4))
    report = graphs.load("react", context=context).invoke({"task": "pay"}, {"recursion_limit": 25})["report"]
    assert report["stop"]["reason"] == "recursion_limit" and till.paid == [0, 1, 2, 3]
    assert len(report["writes"]) == len(till.paid)


@pytest.mark.parametrize("limit", [1, 3, SUPERSTEPS - 1])
def test_one_that_leaves_no_room_for_a_report_is_refused_before_anything_runs(
    limit: int, model_server: ModelServer
) -> None:
    graph = graphs.load("react")
    with pytest.raises(InputError, match=rf"^recursion_limit={limit} leaves .* at least {SUPERSTEPS}, or none"):
        graph.invoke({"task": "pay"}, {"recursion_limit": limit})


def functions(name: str) -> dict[str, str]:
    """The names of the functions behind the nodes of a pattern."""
    found = graphs.load(name).builder.nodes.items()
    return {node: (spec.runnable.afunc or spec.runnable.func).__name__ for node, spec in found}


def longest(node: str, ends: set[str], onward: Mapping[str, set[str]], seen: tuple[str, ...] = ()) -> int:
    """The most supersteps from a node to one of the ends, without a node twice."""
    ways = [end for end in onward.get(node, ()) if end not in (*seen, END)]
    return max((1 + (0 if end in ends else longest(end, ends, onward, (*seen, end))) for end in ways), default=0)


@pytest.mark.parametrize("name", [*graphs.names(), *graphs.plain_ways()])
def test_the_room_that_is_kept_is_enough_for_the_next_decision_and_the_report(name: str) -> None:
    onward: dict[str, set[str]] = {}
    for edge in graphs.load(name).get_graph().edges:
        onward.setdefault(edge.source, set()).add(edge.target)
    deciding = {node for node, function in functions(name).items() if function == "decide"}
    asking = {node for node, function in functions(name).items() if function in ASKS}
    most = max(longest(node, deciding | asking, onward) for node in deciding)  # to the next one, or to the report
    assert deciding and 0 < 2 * most <= ROOM
    assert longest(START, deciding | asking, onward) + most <= SUPERSTEPS
