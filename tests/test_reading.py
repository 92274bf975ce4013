"""Reading replies: the recorded cases in whole and in pieces, values in prose, and nothing ever invented.

The cases are read from the folder that FORETHOUGHT_CASES names; none of them is copied here.
"""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from nodes.reading import Reading, read_message, value_of
from nodes.reading.message import read_text
from nodes.reading.objects import object_in
from nodes.reading.partial import read_prefix
from nodes.reading.values import read_value, same
from tests.support.cases import CASES, READERS, fault, malformed, read

needs_cases = pytest.mark.skipif(
    not (CASES / "malformed").is_dir(), reason="needs the recorded cases: FORETHOUGHT_CASES names no folder"
)
each_case = pytest.mark.parametrize("case", malformed(), ids=lambda case: case["id"])


def seen(kind: str, text: str) -> Any:
    try:
        return read(kind, text)
    except ValueError as error:
        assert str(error), "a refusal says why"
        assert "\n" not in str(error).strip() or kind == "json"
        return None


@needs_cases
@each_case
def test_a_recorded_case_is_read_as_it_asks(case: dict[str, Any]) -> None:
    assert case["kind"] in READERS, "a reader is needed for this kind"
    assert not fault(case["expect"], seen(case["kind"], case["input"]))


@needs_cases
@each_case
def test_a_recorded_case_that_comes_in_pieces_reads_the_same(case: dict[str, Any]) -> None:
    text = case["input"]
    whole = read_message(AIMessage(text))
    cuts = range(1, len(text), max(1, len(text) // 200))
    for cut in cuts:
        assert read_message(AIMessageChunk(text[:cut]) + AIMessageChunk(text[cut:])) == whole  # type: ignore[arg-type]


@needs_cases
@each_case
def test_a_recorded_case_that_is_cut_anywhere_gives_no_call_and_no_object_that_the_whole_has_not(
    case: dict[str, Any],
) -> None:
    never_more(case["input"])


def never_more(text: str) -> None:
    """No beginning of a text holds a call, or an object, that the text itself would not have given at that place."""
    usable = [(call.name, call.args) for call in read_text(text).calls if call.args is not None]
    for cut in range(0, len(text), max(1, len(text) // 300)):
        for call in read_text(text[:cut]).calls:
            assert call.args is None or not usable or (call.name, call.args) in usable, (text[:cut], call)


@needs_cases
def test_every_kind_of_case_has_been_seen() -> None:
    assert {case["kind"] for case in malformed()} <= set(READERS)


# values in prose ------------------------------------------------------------------------------------------------------

MARKS = [
    "<think>", "</think>", "```", "```json\n", "<tool_call>", "</tool_call>", "[TOOL_CALLS]",
    "<|channel|>final<|message|>",
    "Observation: 4", "Final Answer: 4", "#E1 = Search[x]", "1. join()", "{x}", "{{", "}", "[", "]", '"',
    "'", "\\", "\n", "日本語", "🎉", "שלום", "مرحبا", "e\u0301", "\u200f", "true",
    "assistant\n", "{'a': 1}", '{"a": 1}', "null,",
    "//", "/*",
]  # fmt: skip
texts = st.lists(
    st.sampled_from(MARKS) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    max_size=5,
).map("".join)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
written = st.builds(
    lambda value, plain, indent: (value, json.dumps(value, ensure_ascii=plain, indent=indent)),
    values | objects,
    st.booleans(),
    st.sampled_from([None, 2]),
)
calm = st.lists(
    st.sampled_from(["Here it is:", "sure", "说明：", "שלום", "it's", "5 > 3", "see [1].", "🎉", "#", "**"])
).map(" ".join)
wild_before = st.lists(st.sampled_from(["it's", '"', "{", "[", "{x", "[1, ", '"a": ', "`", "\\", "say: "]) | calm).map(
    "".join
)
wild_after = st.lists(st.sampled_from(["it's", '"', "}", "]", ", ", '"b"', ": 1}", "`", "\\", "bye"]) | calm).map(
    "".join
)
fences = st.sampled_from(
    [("", ""), ("```json\n", "\n```"), ("```\n", "\n```"), ("```json", "```"), ("~~~\n", "\n~~~"), ("`", "`")]
)
thoughts = st.sampled_from(
    ["", "<think>hm</think>", '<think>{"draft": 1}</think>', "<think>a</think>\n<think>[]</think>", "draft</think>\n",
     "[THINK]{}[/THINK]"]
)  # fmt: skip


def expected(value: Any) -> Any:
    """An object; a text that holds exactly one was encoded twice."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        try:
            inner = read_value(value)
        except ValueError:
            return None
        return inner if isinstance(inner, dict) else None
    return None


def read_or_none(text: str) -> Any:
    try:
        return value_of(read_message(AIMessage(text)), "plan")
    except ValueError:
        return None


@given(written, thoughts, calm, fences, calm)
@example(({"a": "<think>x</think>"}, '{"a": "<think>x</think>"}'), "", "", ("", ""), "")
@settings(max_examples=300, deadline=None)
def test_an_object_in_calm_prose_comes_back_equal(
    pair: tuple[Any, str], thought: str, before: str, fence: tuple[str, str], after: str
) -> None:
    value, text = pair
    got = read_or_none(f"{thought}{before}\n{fence[0]}{text}{fence[1]}\n{after}")
    if isinstance(value, dict):
        assert got is not None and same(got, value)
    else:
        assert got is None or same(got, expected(value))


@given(written, thoughts, wild_before, fences, wild_after, st.sampled_from(["", "<think>", "<think>and {"]))
@settings(max_examples=600, deadline=None)
def test_a_value_in_any_prose_comes_back_equal_or_is_refused_but_never_another(
    pair: tuple[Any, str], thought: str, before: str, fence: tuple[str, str], after: str, end: str
) -> None:
    value, text = pair
    got = read_or_none(f"{thought}{before}{fence[0]}{text}{fence[1]}{after}{end}")
    assert got is None or same(got, expected(value))


@given(objects, st.data())
@settings(max_examples=300, deadline=None)
def test_a_beginning_of_an_object_is_never_taken_for_an_object(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ValueError):
        object_in(text[:cut])
    with pytest.raises(ValueError):
        object_in(f"<think>{text}"[: cut + 7].removeprefix("<think>"))


@given(objects, st.data())
@settings(max_examples=300, deadline=None)
def test_what_is_there_of_an_object_so_far_is_a_beginning_of_it_and_is_not_called_whole(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(text) - 1))
    so_far = read_prefix(text[:cut])
    assert not so_far.whole
    assert begins(so_far.value, value)
    assert read_prefix(text).whole


def begins(part: Any, whole: Any) -> bool:
    """Whether one value can grow into the other."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and begins(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(map(begins, part, whole)) and len(part) <= len(whole)
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(part)
    if isinstance(part, int | float) and not isinstance(part, bool):
        return isinstance(whole, int | float)  # a number that still grows may become any other
    return part is whole


@given(objects)
@settings(max_examples=200, deadline=None)
def test_an_object_encoded_twice_comes_back_equal(value: dict[str, Any]) -> None:
    assert same(object_in(json.dumps(json.dumps(value))), value)


@given(
    st.dictionaries(
        st.text("abcxyz_日本", min_size=1), st.none() | st.booleans() | st.text("ab 'q\"日🎉{}[],:") | st.integers()
    )
)
@settings(max_examples=200, deadline=None)
def test_an_object_written_as_python_comes_back_equal(value: dict[str, Any]) -> None:
    assert same(object_in(f"Result: {value!r}"), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it\\'s', \"b\": None}", {"a": "it's", "b": None}),
        ('{a: true, b_2: "x: y, z"}', {"a": True, "b_2": "x: y, z"}),
        ('{"a": 1 // why\n, /* and */ "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{\\"a\\": [1, \\"b\\"]}', {"a": [1, "b"]}),
        ('{"http": "http://x/y"}', {"http": "http://x/y"}),
        ("\ufeff{}", {}),
        ('{"a": 1} {"a": 1}', {"a": 1}),
        ('use {name} as in {"a": "{name}"}, not {other}', {"a": "{name}"}),
        ("it's ```\n{'a': 'b'}\n```", {"a": "b"}),
    ],
)
def test_a_repair_changes_tokens_and_never_the_structure(text: str, value: Any) -> None:
    assert same(object_in(text), value)


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "```\n```", "nothing here", "42", "null", "true", '"text"', "[]", '["a"]', '[{"a": 1}]', '- {"a"',
        '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": 1/3}', '{"a": 01}', '{"a": 0x1}',
        '{"a": bare}', '{"a": {b}}',
        '{"a": }', '{"a": ,}', "{,}", '{"a": 1,, "b": 2}', '{"a" 1}', '{"a": "x "quoted" y"}', '{"a": "C:\\dir"}',
        '{"a": ["b" "c"]}', '{"a": 1, "a": 2}', '{"a": 1}}', '{{"a": 1}}', '{"a": [1}',
        '{"a": (1, 2)}', '{"a": {1, 2}}',
        '{"a": 1} {"a": true}', '{"a": 1} or {"a": 1.0}', '"a": {"b": 1}', '{"a": {"b": 1}, "c": ', '[{"a": 1}, {"b"',
        'He wrote "{}" there', '{"a": 1}, "b": 2}', '{"a": "\\ud800"}', '{"a": r"x"}', '{"a": lambda: 1}', '{"a": #E1}',
        "{" * 5000, "[" * 5000, '{"a":' * 2000 + "1" + "}" * 2000,
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_or_in_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        object_in(text)
    assert str(refused.value)


@pytest.mark.parametrize("around", ["{}", "Here it is:\n{}\nThat is all.", "```json\n{}\n```", "Good.\n```\n{}\n```"])
@pytest.mark.parametrize(
    ("held", "said"),
    [
        ('"a\\ud800"', r"'a\ud800' holds half of a character"), ('"a\\u0000b"', r"'a\x00b' holds a NUL"),
        ("9" * 5000, "has 5,000 digits"), ("1e999", "too large or not finite"), ("NaN", "NaN is no JSON number"),
        ("[" * 50_000 + "]" * 50_000, "nested too deep"), ('{"b": 1, "b": 2}', "'b' is given twice"),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_of_json_that_holds_what_can_not_be_kept_it_is_said_what_that_is(held: str, said: str, around: str) -> None:
    with pytest.raises(ValueError) as refused:
        object_in(around.replace("{}", f'{{"a": {held}}}'))
    assert said in str(refused.value) and "broken" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ['{"a": 1/3, "b": 2}', '{"a": nope', '{"a": [{"b": 1], "c"', '{"a": 1} {"b"', "a: 1", '"abc', ""]
)
def test_a_fault_in_the_middle_is_no_beginning_of_a_value(text: str) -> None:
    with pytest.raises(ValueError):
        read_prefix(text)


# one message ----------------------------------------------------------------------------------------------------------


def of(content: Any = "", finish: str | None = "stop", calls: Any = (), **extra: Any) -> Reading:
    message = AIMessage(
        content, additional_kwargs=extra, response_metadata={"finish_reason": finish}, tool_calls=list(calls)
    )
    return read_message(message)


def call(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": args, "id": "1"}


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (of(""), "empty"),
        (of([]), "empty"),
        (of("   "), "empty"),
        (of("", "length"), "finish_reason length"),
        (of("", "MAX_TOKENS"), "finish_reason MAX_TOKENS"),
        (of("", "content_filter"), "content_filter"),
        (of("half an ans", "content_filter"), "content_filter"),
        (of("", refusal="I can't\ndo that"), "refused: I can't do that"),
        (of([{"type": "refusal", "refusal": "no"}]), "refused: no"),
        (of("<think>all of it</think>"), "only reasoning"),
        (of("<think>never closed {"), "never closed"),
        (of("", reasoning_content="hm"), "only reasoning"),
        (of([{"type": "thinking", "thinking": "hm"}]), "only reasoning"),
        (of("Let me see. <tool_call>{broken</tool_call>"), "form that is not known"),
        (of("", "length", [call("f", {"a": "cut"})]), "finish_reason length"),
    ],
)
def test_a_reply_without_an_answer_says_why_in_one_line(reading: Reading, why: str) -> None:
    assert why in reading.problem
    assert "\n" not in reading.problem
    assert reading.text == ""
    with pytest.raises(ValueError):
        value_of(reading, "plan")


@pytest.mark.parametrize(
    ("reading", "text", "thought"),
    [
        (of("hi"), "hi", ""),
        (of([{"type": "text", "text": "a"}, "b", {"type": "image_url"}]), "ab", ""),
        (
            of([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]),
            "a",
            "hm",
        ),
        (of("a", reasoning_content="hm"), "a", "hm"),
        (of("a", reasoning="hm"), "a", "hm"),
        (of("a", reasoning_details=[{"type": "reasoning.text", "text": "hm"}]), "a", "hm"),
        (of("<think>hm</think>a"), "a", "hm"),
        (of("<think>x</think>a<think>y</think>b"), "ab", "x\ny"),
        (of("<think>x<think>y</think>a"), "a", "x<think>y"),
        (of("hm</think>a"), "a", "hm"),
        (of("a<think>hm"), "a", "hm"),
        (of("<THINKING>hm</THINKING>a"), "a", "hm"),
        (of("◁think▷hm◁/think▷a"), "a", "hm"),
        (of("Write `<think>` and `</think>` so."), "Write `<think>` and `</think>` so.", ""),
        (of("a<|im_end|>\n<|im_start|>user\nb"), "a", ""),
        (
            of("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>a<|return|>"),
            "a",
            "hm",
        ),
        (of("日本 🎉 שלום e\u0301 {x} {{y}} \u202e"), "日本 🎉 שלום e\u0301 {x} {{y}} \u202e", ""),
    ],
)
def test_reasoning_is_set_aside_and_the_rest_arrives_unchanged(reading: Reading, text: str, thought: str) -> None:
    assert (reading.text, reading.reasoning, reading.problem) == (text, thought, "")


@pytest.mark.parametrize(
    ("reading", "problem"),
    [
        (of(calls=[call("other", {"a": 1})]), "called 'other' instead of 'plan'"),
        (of(calls=[call("plan", {"a": 1}), call("plan", {"a": 2})]), "more than once"),
        (of('<tool_call>{"name": "plan", "arguments": {"a"</tool_call>'), "broken"),
        (of('<think>{"a": 1}</think>'), "only reasoning"),
        (of('<think>{"a": 1}'), "only reasoning"),
        (of('{"a": 1', "length"), "cut|Expecting"),
        (of(function_call={"name": "plan", "arguments": '{"a": "cu'}), "arguments of plan"),
        (of(function_call={"name": "plan", "arguments": "[1]"}), "list, not an object"),
    ],
)
def test_a_typed_reply_that_can_not_be_used_says_why(reading: Reading, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        value_of(reading, "plan")


@pytest.mark.parametrize(
    "reading",
    [
        of('{"a": 1}'),
        of('{"a": 1}', "length"),
        of(calls=[call("plan", {"a": 1})]),
        of(calls=[call("planplan", {"a": 1})]),
        of(calls=[call("plan<|channel|>json", {"a": 1})]),
        of(calls=[call("functions.plan:0", {"a": 1})]),
        of(calls=[call("plan", {"a": 1}), call("plan", {"a": 1})]),
        of(function_call={"name": "plan", "arguments": '{"a": 1}'}),
        of(function_call={"name": "plan", "arguments": {"a": 1}}),
        of(function_call={"name": "plan", "arguments": '"{\\"a\\": 1}"'}),
        of(tool_calls=[{"id": None, "function": {"name": "plan", "arguments": '{"a": 1}'}}]),
        of([{"type": "tool_use", "id": "1", "name": "plan", "input": {"a": 1}}]),
        of('Here:\n<tool_call>{"name": "plan", "arguments": {"a": 1}}</tool_call>'),
        of('{"name": "plan", "parameters": {"a": 1}}'),
    ],
)
def test_a_typed_reply_is_found_wherever_a_server_puts_it(reading: Reading) -> None:
    assert value_of(reading, "plan") == {"a": 1}


def test_a_typed_reply_that_looks_like_a_call_is_still_the_reply() -> None:
    record = {"name": "bob", "arguments": {"a": 1}}
    assert value_of(of(json.dumps(record)), "person") == record


def test_arguments_of_a_stream_that_was_cut_are_not_completed() -> None:
    chunk = AIMessageChunk("", tool_call_chunks=[{"name": "plan", "args": '{"a": "Par', "id": "1", "index": 0}])
    assert chunk.tool_calls[0]["args"] == {"a": "Par"}  # what LangChain makes of it
    assert read_message(chunk).calls[0].args is None


@given(st.text(st.characters(exclude_categories=["Cs"])) | texts)
@settings(max_examples=300, deadline=None)
def test_reading_never_raises(text: str) -> None:
    reading = read_message(AIMessage(text))
    assert reading.raw == text
    assert bool(reading.problem) != bool(reading.text or any(call.args is not None for call in reading.calls))


@given(texts)
@settings(max_examples=200, deadline=None)
def test_marks_inside_data_have_no_effect(text: str) -> None:
    assert value_of(read_message(AIMessage(json.dumps({"a": text}, ensure_ascii=False))), "plan") == {"a": text}
    inside = json.dumps({"name": "f", "arguments": {"a": text}}, ensure_ascii=False)
    calls = read_text(f"<tool_call>\n{inside}\n</tool_call>").calls
    assert [(found.name, found.args) for found in calls] == [("f", {"a": text})]
