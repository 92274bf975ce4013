"""A list inside JSON that is still coming: each item is given as soon as it is whole, whatever the pieces."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from nodes.reading import read_message, value_of
from nodes.reading.coming import Coming

FEW = settings(max_examples=60)
TEXTS = st.text(st.sampled_from('ab{}[]",:\\ \n中文😀é/'), max_size=8)
VALUES = TEXTS | st.integers() | st.booleans() | st.none() | st.lists(TEXTS, max_size=2)
ARGS = st.dictionaries(TEXTS, VALUES | st.dictionaries(TEXTS, VALUES, max_size=2), max_size=3)
STEPS = st.lists(st.fixed_dictionaries({"id": TEXTS, "args": ARGS}), min_size=1, max_size=4)
BEFORE = st.sampled_from(
    ["", "\n ", "```json\n", '<think>first {"steps": [1]} > then</think>\n', "[THINK]hm]>[/THINK]```\n"]
)


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, list[Any], list[int]]:
    """The text of a reply, its steps, and the places in the text where each has become whole."""
    steps, around = draw(STEPS), {"goal": draw(TEXTS), "n": draw(VALUES)}
    form: Any = {"ensure_ascii": draw(st.booleans()), "indent": draw(st.sampled_from([None, 1]))}
    whole, before = json.dumps({**around, "steps": steps, "questions": []}, **form), draw(BEFORE)
    place, ends = whole.index("[", whole.rindex('"steps"')), []
    for _ in steps:
        place = json.JSONDecoder().raw_decode(whole, whole.index("{", place))[1]
        ends.append(len(before) + place)
    return before + whole, steps, ends


@FEW
@given(replies(), st.data())
def test_every_step_is_given_the_moment_it_is_whole_and_no_earlier_at_every_cut(
    reply: Any, data: st.DataObject
) -> None:
    text, steps, ends = reply
    cuts = sorted({*data.draw(st.lists(st.integers(0, len(text)))), len(text)})
    coming, found, place = Coming("steps"), [], 0
    for cut in cuts:
        found += coming.push(text[place:cut])
        place = cut
        assert found == steps[: sum(end <= cut for end in ends)]


@FEW
@given(replies())
def test_one_character_at_a_time_gives_what_the_whole_reply_gives(reply: Any) -> None:
    text, steps, _ = reply
    coming = Coming("steps")
    assert [item for character in text for item in coming.push(character)] == steps
    assert value_of(read_message(AIMessage(text)), "plan")["steps"] == steps


@FEW
@given(replies(), st.data())
def test_a_fault_ends_it_and_nothing_after_the_fault_is_given(reply: Any, data: st.DataObject) -> None:
    text, steps, ends = reply
    coming = Coming("steps")
    first = ends[0]
    assert coming.push(text[:first] + data.draw(st.sampled_from(["x", "}", "'", ":"])) + text[first:]) == steps[:1]
    assert coming.push(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'Here is the plan: {"steps": [{"id": "a"}]}',
        '[{"id": "a"}]',
        "{'steps': [{'id': 'a'}]}",
        '{"steps": {"id": "a"}}',
        '"{\\"steps\\": [{\\"id\\": \\"a\\"}]}"',
        '{"steps": ["a", {"id": "b"}]}',
        '{"steps": []}',
        '{"plan": {"steps": [{"id": "a"}]}}',
        '{"steps": [{"id": NaN}]}',
        '{"steps": [{"id": "a", "id": "b"}]}',
        "",
        "<tool_call>{}",
        '{"st{"steps": [{"id": "a"}]}',
        '<think>never ends {"steps": [{"id": "a"}]}',
    ],
)  # fmt: skip
def test_what_is_not_plainly_the_object_gives_nothing(text: str) -> None:
    coming = Coming("steps")
    assert [item for character in text for item in coming.push(character)] == []
