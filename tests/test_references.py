"""References and conditions: what is read, what stays plain text, and what is said when one points to nothing."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.conditions import _FUNCTIONS, _METHODS, accept, holds, step_ids, unparsable
from state.errors import ReferenceMissing
from state.plain import plain, storable
from state.plan import StepDraft
from state.references import references, resolve

IDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(IDS, JSON)
def test_a_value_that_is_one_reference_keeps_the_type_of_what_it_points_to(name: str, value: Any) -> None:
    assert resolve({"x": [f"${{steps.{name}}}"]}, {name: value}) == {"x": [value]}


@given(IDS, JSON)
def test_inside_a_longer_text_a_result_becomes_text(name: str, value: Any) -> None:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    assert resolve(f"<${{steps.{name}}}>", {name: value}) == f"<{shown}>"


@given(st.text())
def test_what_a_reference_brings_in_is_never_read_for_references_again(text: str) -> None:
    hostile = text + "${steps.b}${steps.b.x}"
    assert resolve("${steps.a} and ${steps.a}", {"a": hostile, "b": {"x": 1}}) == f"{hostile} and {hostile}"


@given(st.text().filter(lambda text: "${steps." not in text))
def test_any_other_dollar_brace_is_plain_text(text: str) -> None:
    for other in ("${HOME}", "${item}", "${steps}", "${steps.}", "${steps.1a}", "${ steps.a}", "$steps.a", "${steps.a"):
        assert references(text + other) == []
        assert resolve(text + other, {"a": 1}) == text + other


@given(IDS, st.dictionaries(st.from_regex(r"[\w-]{1,8}", fullmatch=True), JSON, min_size=1, max_size=4), st.data())
def test_a_path_finds_every_key_and_index_also_with_dashes_and_digits(
    name: str, value: Any, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    assert resolve(f"${{steps.{name}.{key}}}", {name: value}) == value[key]
    assert resolve(f"${{steps.{name}[0].{key}}}", {name: [value]}) == value[key]
    assert resolve(f'${{steps.{name}."{key}"}}', {name: value}) == value[key]


def test_step_10_is_not_step_1_followed_by_a_zero() -> None:
    assert resolve("${steps.E1} ${steps.E10}", {"E1": "one", "E10": "ten"}) == "one ten"


def test_projections_and_slices_give_lists() -> None:
    rows = {"rows": [{"n": 1}, {"n": 2}, {"n": 3}]}
    assert resolve("${steps.a.rows[*].n}", {"a": rows}) == [1, 2, 3]
    assert resolve("${steps.a.rows[1:].n}", {"a": rows}) == [2, 3]
    assert resolve("${steps.a.rows[-1].n}", {"a": rows}) == 3


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("${steps.b}", "no result of a step 'b'"),
        ("${steps.a.y}", "there is ['n', 'x']"),
        ("${steps.a.x[3]}", "a list of 1"),
        ("${steps.a.x.name}", "a list of 1"),
    ],
)
def test_a_reference_to_nothing_says_what_there_is(reference: str, said: str) -> None:
    with pytest.raises(ReferenceMissing) as caught:
        resolve(reference, {"a": {"x": [1], "n": None}})
    assert said in str(caught.value)


def test_a_null_that_is_there_is_no_missing_reference() -> None:
    assert resolve("${steps.a.n}", {"a": {"n": None}}) is None


@pytest.mark.parametrize(
    ("condition", "output", "outcome"),
    [
        ("rows > 0", {"rows": 3}, "passed"),
        ("rows > 0", {"rows": 0}, "failed"),
        ("confidence >= 0.8", {"confidence": 0.42}, "failed"),
        ("output > 0 and output < 10", 5, "passed"),
        ("len(output) >= 3", "abc", "passed"),
        ("status == 'approved' and amount < 50000", {"status": "approved", "amount": 100}, "passed"),
        ("'12' in output", "it is 12 °C", "passed"),
        ("output.items[0].name == 'x'", {"items": [{"name": "x"}]}, "passed"),
        ("output['items'][0]['name'] == 'x'", {"items": [{"name": "x"}]}, "passed"),
        ("all(n > 1 for n in output)", [2, 3], "passed"),
        ("nothing > 0", {"rows": 3}, "unverified"),
        ("rows > 'a'", {"rows": 3}, "unverified"),
        ("9**9**9 > 0", 1, "unverified"),
        ("'x' * 10**9 == ''", 1, "unverified"),
    ],
)
def test_code_decides_a_condition_and_what_it_cannot_decide_is_unverified(
    condition: str, output: Any, outcome: str
) -> None:
    assert accept(condition, output)["outcome"] == outcome


@pytest.mark.parametrize("wrong", ["rows >", "the film is named", "x = 1", "lambda: 1", "import os", "rows > 0; x", ""])
def test_what_is_no_condition_is_said(wrong: str) -> None:
    assert "can't be read" in unparsable(wrong)


@pytest.mark.parametrize(
    "attack", ["__import__('os').system('true')", "output.__class__.__mro__", "().__class__", "open('/etc/passwd')"]
)
def test_a_condition_can_not_reach_outside_its_values(attack: str) -> None:
    assert accept(attack, "x")["outcome"] == "unverified"


@given(st.text(max_size=60))
def test_no_text_makes_a_condition_raise(text: str) -> None:
    unparsable(text)
    assert accept(text, {"a": 1})["outcome"] in ("passed", "failed", "unverified")
    step_ids(text)


def test_a_guard_names_its_steps_and_holds_on_their_results() -> None:
    assert step_ids("steps.a.rows > 0 and steps['b-c'] == 1") == ["b-c", "a"]
    assert holds("steps.a.rows > 0", {"a": {"rows": 1}})
    with pytest.raises(ValueError, match="could not be evaluated"):
        holds("steps.a.rows > 0", {"a": {}})


@given(JSON)
def test_plain_leaves_json_as_it_is_but_for_what_no_file_can_hold(value: Any) -> None:
    text = json.dumps(value)
    if "\\ud" not in text and "\\u0000" not in text:
        assert plain(value) == value


def test_plain_makes_anything_storable() -> None:
    loop: list[Any] = []
    loop.append(loop)
    values = [
        float("nan"),
        float("inf"),
        2**200,
        10**6000,
        b"\xff",
        {1: {2}},
        object(),
        "\ud800",
        loop,
        ValueError("x"),
    ]
    for value in values:
        json.dumps(plain(value), allow_nan=False).encode()


def test_the_page_on_saved_plans_names_every_field_of_a_step_and_all_that_a_condition_knows() -> None:
    page = (Path(__file__).parent.parent / "docs" / "workflows.md").read_text("utf-8")
    section = page.split("## The fields of a step")[1].split("\n## ")[0]
    table, rest = section.split("A **reference**")
    assert set(re.findall(r"`(\w+)`", table)) >= {*StepDraft.model_fields}
    functions, methods = rest.split("- Functions:")[1].split("- Methods:")
    assert set(re.findall(r"`(\w+)`", functions)) == set(_FUNCTIONS)
    assert set(re.findall(r"`(\w+)`", methods.split("\n\n")[0])) == set(_METHODS)


NEAR_KEYS = st.integers(-2, 2) | st.none() | st.sampled_from(["0", "1", "1 (int)", "a\0", "a\ufffd"])


@given(st.dictionaries(NEAR_KEYS, st.integers(0, 99)))
def test_plain_keeps_every_value_of_keys_that_are_the_same_as_texts(value: dict[Any, int]) -> None:
    kept = plain(value)
    assert [*kept.values()] == [*value.values()]
    assert all(kept[key] == value[key] for key in value if isinstance(key, str) and "\0" not in key)


def test_keys_that_are_the_same_as_texts_are_told_apart_or_refused() -> None:
    assert plain(defaultdict(str, {0: "a", "0": "b"})) == {"0 (int)": "a", "0": "b"}
    assert storable({0: "a"}) == {"0": "a"}
    with pytest.raises(ValueError, match="the key '0' stands twice"):
        storable({"x": {0: "a", "0": "b"}})
