"""A thread whose state a person edits: what no run could have written is refused in one line, and nothing changes."""

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Overwrite

import graphs
from state.channels import State
from state.edits import check_edit
from state.errors import ForethoughtError, InputError
from state.messages import converse

THREAD: Any = {"configurable": {"thread_id": "t"}}
TASK = "count the words of a.txt, then write the result to b.txt"
HOSTILE: tuple[Any, ...] = (None, 5, -1, True, "x", [], {}, [{}], [None], {"a": 1}, {"a": {}}, float("nan"), object())
GROWING = ("plans", "results", "events", "reflections", "thoughts", "drafts", "lessons", "approvals", "messages")


@pytest.fixture
def waiting(tmp_path: Path) -> Any:
    """A graph whose run waits before a write, with everything in its state."""
    (tmp_path / "a.txt").write_text("one two three")
    context = {"root": str(tmp_path), "check_after": "step"}
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver(), context=context)
    graph.invoke({"task": TASK}, THREAD)
    return graph


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"plans": [{}]}, r"the edit of 'plans' is not taken: 0\.version: it is missing, got \{\}; give what"),
        ({"plans": [None]}, r"0: Input should be a valid dictionary, got None"),
        ({"plans": None}, r"Input should be a valid list, got None"),
        ({"plans": Overwrite([5])}, r"0: .* got 5"),
        ({"results": {"s1": {"step": "s1"}}}, r"s1\.hash: it is missing"),
        ({"asks": [{}]}, r"0\.id: it is missing"),
        ({"approvals": {"a": {"type": "yes"}}}, r"a\.type: Input should be 'approve', .* got yes"),
        ({"counts": {"replans": "2"}}, r"replans: .* got 2"),
        ({"report": {"answer": 5}}, r"request: it is missing, got \{'answer': 5\}"),
        ({"stop": {"kind": "good", "reason": "done", "message": "", "evidence": []}}, r"kind: .* got good"),
        ({"request": {"taks": "x"}}, r"no field 'taks', did you mean 'task'\?"),
        ({"request": {"language": "fr"}}, r"language: .* got fr"),
        ({"request": {"settings": {}}}, r"settings: limits is missing"),
        ({"plan": []}, r"no channel 'plan'; did you mean 'plans'\?"),
        pytest.param({"answer": object()}, r"only JSON can be kept, got <object", id="an object"),
        ({"messages": [{"role": "user", "content": 5}]}, r"is no message; right would be"),
        ("x", r"the edit x is no mapping of channels; give what get_state shows"),
    ],
    ids=str,
)
def test_an_edit_that_no_run_could_have_written_says_where_what_is_there_and_what_would_be_right(
    edit: Any, said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        check_edit(edit)
    assert "\n" not in str(refused.value)


def test_a_setting_of_a_request_that_is_edited_is_held_against_what_settings_may_be(waiting: Any) -> None:
    settings = waiting.get_state(THREAD).values["request"]["settings"]
    with pytest.raises(
        InputError, match="context setting 'writes': Input should be 'ask', 'allow' or 'deny', got never"
    ):
        waiting.update_state(THREAD, {"request": {"settings": {**settings, "writes": "never"}}})


@pytest.mark.slow
@pytest.mark.parametrize("channel", State.__annotations__)
def test_whatever_is_written_into_a_channel_the_thread_stays_or_can_be_read_and_worked_with(
    waiting: Any, channel: str
) -> None:
    before = str(waiting.get_state(THREAD))
    for given in HOSTILE:
        for edit in (given, {"__overwrite__": given}) if channel in GROWING else (given,):
            try:
                fork = waiting.update_state(THREAD, {channel: edit})
            except InputError:
                assert str(waiting.get_state(THREAD)) == before, "a refused edit left something"
            else:
                waiting.get_state(fork)
                waiting = _gone_on(waiting)
                before = str(waiting.get_state(THREAD))


def _gone_on(graph: Any) -> Any:
    """The thread after it went on, was given another task, and waits anew."""
    for given in (None, {"task": "what is 1 + 1"}, {"task": TASK}):
        try:
            graph.invoke(given, THREAD)
        except ForethoughtError as error:
            assert "\n" not in str(error)
    return graph


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, one in inner for place in _places(one, (*at, key)))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_record_with_one_thing_in_it_changed_is_refused_or_can_be_worked_with(waiting: Any, seed: int) -> None:
    chance = Random(seed)
    refused = 0
    for _ in range(80):
        values = waiting.get_state(THREAD).values
        channel = chance.choice(sorted(values))
        place = chance.choice([place for place in _places(values[channel]) if place] or [()])
        edited = deepcopy(values[channel])
        *way, last = place or (None,)
        inner = edited
        for key in way:
            inner = inner[key]
        if last is not None:
            inner[last] = chance.choice(HOSTILE)
        edit = Overwrite(edited) if channel in GROWING and chance.random() < 0.5 else edited
        try:
            waiting.update_state(THREAD, {channel: edit}, as_node=chance.choice([None, "decide", "execute"]))
        except InputError:
            refused += 1
        else:
            waiting = _gone_on(waiting)
    assert 20 < refused < 80


def test_an_update_in_a_command_and_one_in_bulk_are_held_to_the_same(waiting: Any) -> None:
    before = str(waiting.get_state(THREAD))
    with pytest.raises(InputError, match="'plans' is not taken"):
        waiting.invoke(Command(update={"plans": [{}]}), THREAD)
    with pytest.raises(InputError, match="'plans' is not taken"):
        waiting.bulk_update_state(THREAD, [[({"answer": 1}, "decide")], [({"plans": [{}]}, "decide")]])
    with pytest.raises(InputError, match="'plans' is not taken"):
        waiting.bulk_update_state(THREAD, [[([({"plans": [{}]}, "decide")], "__copy__")]])
    assert str(waiting.get_state(THREAD)) == before


@pytest.mark.parametrize("name", graphs.names())
def test_what_a_run_of_a_pattern_wrote_is_taken_as_an_edit(name: str, tmp_path: Path) -> None:
    context: dict[str, Any] = {"root": str(tmp_path)}
    if name == "workflow":
        steps = [{"id": "a", "tool": "calculator", "args": {"expression": "1 + 1"}}]
        context["plan"] = {"goal": "add", "steps": steps}
    graph = graphs.load(name, checkpointer=InMemorySaver(), context=context)
    graph.invoke({"task": "add 1 and 1"}, THREAD)
    for snapshot in graph.get_state_history(THREAD):
        check_edit(snapshot.values)
        check_edit(json.loads(json.dumps({**snapshot.values, "messages": converse([], [snapshot.values["messages"]])})))


def test_what_an_older_version_had_written_is_taken(waiting: Any) -> None:
    values = deepcopy(waiting.get_state(THREAD).values)
    for name in ("chosen", "drafts", "lessons"):
        del values["report"][name]
    for one in (*values["plans"][0]["steps"], *values["results"].values()):
        one.pop("measures", None)
        one.pop("made", None)
    waiting.update_state(THREAD, {name: values[name] for name in ("plans", "results", "report")})
    assert waiting.invoke(None, THREAD)["report"]["stop"]["reason"] == "needs_approval"
