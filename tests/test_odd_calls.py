"""What a caller hands in that no run can take: one line that says what would be right, before anything is stored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END
from langgraph.types import Command, Send

import graphs
from state.errors import InputError
from tests.support.runs import THREAD

TASK = {"task": "add 1 and 2"}


@pytest.fixture
def graph(home: Path) -> Any:
    return graphs.load("plan_and_execute", checkpointer=InMemorySaver())


NODES = [*graphs.load("plan_and_execute").builder.nodes]
GOTO = [*NODES, "nowhere", ["plan", "execute"], Send("approve", {"ask": {}}), 5]


@pytest.mark.parametrize("begun", [False, True])
def test_a_jump_to_a_node_is_not_taken_on_a_new_thread_nor_on_one_that_has_run(graph: Any, begun: bool) -> None:
    if begun:
        graph.invoke(TASK, THREAD)
    before = graph.get_state(THREAD)
    for node in GOTO:
        for jump in (Command(goto=node), Command(goto=node, update={"answer": "x"}), Command(goto=node, resume="yes")):
            with pytest.raises(InputError, match=r"^Command\(goto=.* is not taken: .*graphs\.fork"):
                graph.invoke(jump, THREAD)
    with pytest.raises(InputError, match=r"^Command\(graph="):
        graph.invoke(Command(graph=Command.PARENT, update={"answer": "x"}), THREAD)
    assert graph.get_state(THREAD) == before


PLACES: list[tuple[Any, str]] = [
    ({"configurable": {"thread_id": "\ud800"}}, r"thread_id is '\\ud800', with a character that can't be kept"),
    ({"configurable": {"thread_id": "a\0b"}}, r"thread_id is 'a\\x00b', with a character that can't be kept"),
    ({"configurable": {"thread_id": {}}}, r"thread_id is \{\} \(dict\), and it must be a text"),
    ({"configurable": {"thread_id": None}}, r"thread_id is None \(NoneType\), and it must be a text"),
    ({"configurable": {}}, "with a checkpointer config names the thread"),
    ({"configurable": None}, "with a checkpointer config names the thread"),
    (None, "with a checkpointer config names the thread"),
    (5, 'config 5 is a int: give a mapping with "configurable"'),
]


@pytest.mark.parametrize(("place", "why"), PLACES, ids=range(len(PLACES)))
def test_a_thread_that_can_not_be_named_so_is_one_line_in_every_way_in(graph: Any, place: Any, why: str) -> None:
    ways: list[Callable[[], Any]] = [
        lambda: graph.invoke(TASK, place), lambda: list(graph.stream(TASK, place)), lambda: graph.get_state(place),
        lambda: list(graph.get_state_history(place)), lambda: graph.update_state(place, {"answer": "x"}),
    ]  # fmt: skip
    for way in ways:
        with pytest.raises(InputError, match=f"^{why}"):
            way()


def test_a_thread_may_be_named_by_a_text_a_number_or_a_uuid(graph: Any) -> None:
    for name in ("wörk/一", 5, uuid4()):
        place = {"configurable": {"thread_id": name}}
        assert graph.invoke(TASK, place)["report"]["answer"] == "3"
        assert graph.get_state(place).values["report"]["answer"] == "3"


NO_LIST: list[Any] = [5, "x", None, [], [[]], [5], [None]]
NO_PAIR: list[Any] = [5, None, "x", ("a",), (1, 2, 3, 4)]
NO_NODE: list[Any] = ["decid", 5, {}, END, ""]
EDITS: list[tuple[Any, str]] = [
    *[(given, "edits .* are no list of lists") for given in NO_LIST],
    *[([[given]], "the edit .* is no pair of values and node") for given in NO_PAIR],
    *[([[({"answer": 1}, node)]], "as_node=.* there is no such node") for node in NO_NODE],
]


@pytest.mark.parametrize(("edits", "why"), EDITS, ids=range(len(EDITS)))
def test_what_is_no_edit_is_one_line_and_nothing_of_it_is_stored(graph: Any, edits: Any, why: str) -> None:
    graph.invoke(TASK, THREAD)
    before = graph.get_state(THREAD)
    with pytest.raises(InputError, match=f"^{why}"):
        graph.bulk_update_state(THREAD, edits)
    assert graph.get_state(THREAD) == before


@pytest.mark.parametrize("given", [5, "rec.jsonl", {"request": 1}])
def test_what_is_no_recorded_run_is_one_line(given: Any, home: Path) -> None:
    with pytest.raises(InputError, match=r"context setting 'replay': .* is no recorded run; .* graphs\.replay"):
        graphs.load("one_shot").invoke(TASK, context={"replay": given})
