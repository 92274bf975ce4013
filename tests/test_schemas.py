"""Schemas that somebody hands in: the published suite's meaning is kept, and no pattern holds a run up."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import graphs
from nodes.typed_args import misfit, problems
from state.errors import InputError
from state.schemas import faults, schema_fault

SLOW = [
    ("^(a+)+$", "a" * 34 + "!"),
    (r"^([a-z0-9])(([\-.]|[_]+)?([a-z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3}))$", "a" * 34 + "!"),
    ("(x+x+)+y", "x" * 40),
]


@pytest.mark.parametrize(("pattern", "text"), SLOW)
@pytest.mark.parametrize("keyword", ["pattern", "patternProperties", "additionalProperties"])
def test_a_pattern_that_would_take_for_ever_is_given_up(pattern: str, text: str, keyword: str) -> None:
    schema: dict[str, Any] = {
        "pattern": {"type": "object", "properties": {"v": {"type": "string", "pattern": pattern}}},
        "patternProperties": {"type": "object", "patternProperties": {pattern: {"type": "integer"}}},
        "additionalProperties": {"type": "object", "patternProperties": {pattern: {}}, "additionalProperties": False},
    }[keyword]
    value = {"v": text} if keyword == "pattern" else {text: "x"}
    found = problems(value, schema, {})
    assert bool(misfit(value, schema)) == bool(found) == (keyword != "patternProperties")


def twice(levels: int, **last: Any) -> dict[str, Any]:
    """A schema each of whose parts refers to the next one twice."""
    parts = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**parts, f"a{levels}": last}, "properties": {"v": {"$ref": "#/$defs/a0"}}}


def test_a_schema_whose_parts_refer_to_each_other_too_often_is_given_up_and_said() -> None:
    found = problems({"v": {"w": 1}}, twice(40, type="object"), {})
    assert found == ["argument (all): whether it fits its schema can't be decided: it takes more than 0.5 s"]
    assert "can't be decided" in misfit({"v": {"w": 1}}, {**twice(40), "unevaluatedProperties": False})


def test_a_schema_that_takes_for_ever_on_an_empty_value_is_refused() -> None:
    assert "refer to each other too often" in schema_fault({**twice(40), "$ref": "#/$defs/a0"})


@pytest.mark.parametrize(
    "part", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_a_part_that_names_a_draft_has_no_other_bounds(part: str) -> None:
    schema = {"properties": {"v": {"$schema": part, "properties": {"w": {"pattern": "^(a+)+$"}}}}}
    began = time.thread_time()
    assert "does not match" in misfit({"v": {"w": "a" * 26 + "!"}}, schema)
    assert time.thread_time() - began < 1  # Python's own patterns take several seconds


@pytest.mark.parametrize(
    ("value", "differ"),
    [
        ([1, 1.0], False), ([1, True], True), ([[1], [1.0]], False), ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([{"a": 1}, {"a": True}], True), (["1", 1], True), ([None, "null"], True), ([], True),
    ],
)  # fmt: skip
def test_items_are_unique_by_the_meaning_of_json(value: list[Any], differ: bool) -> None:
    schema = {"type": "array", "uniqueItems": True}
    assert (not faults(value, schema)) == differ == Draft202012Validator(schema).is_valid(value)


def test_many_items_are_compared_once_each() -> None:
    rows = [{"a": [n]} for n in range(20_000)]
    assert misfit(rows, {"uniqueItems": True}, 2.0) == ""


NAMES = st.text("ab1", max_size=3)
VALUES = st.recursive(st.integers() | NAMES, lambda part: st.dictionaries(NAMES, part, max_size=3), max_leaves=5)
PARTS = st.sampled_from([{"type": "integer"}, {"type": "string", "pattern": "^a+b?$"}, {}, False, True])
SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(NAMES, PARTS, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "1", "^[ab]+$"]), PARTS, max_size=2),
        "additionalProperties": PARTS,
        "pattern": st.sampled_from(["^a", "1$", "b"]),
    },
)


@given(schema=SCHEMAS, value=VALUES)
def test_schemas_mean_what_they_mean_elsewhere(schema: Any, value: Any) -> None:
    ours = [list(error.absolute_path) for error in faults(value, schema)]
    theirs = [list(error.absolute_path) for error in Draft202012Validator(schema).iter_errors(value)]
    assert sorted(map(str, ours)) == sorted(map(str, theirs))


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"pattern": "("}, "regex"),
        ({"patternProperties": {"(": {}}}, "regex"),
        ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "right would be additionalProperties"),
    ],
)
def test_a_schema_whose_patterns_can_not_be_used_is_refused(schema: Any, why: str) -> None:
    assert why in schema_fault(schema)


async def test_a_run_goes_on_beside_a_value_whose_pattern_takes_for_ever() -> None:
    pattern, text = SLOW[0]
    plan = {
        "goal": "g",
        "parameters": {"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}},
        "steps": [{"id": "s1", "tool": "calculator", "args": {"expression": "1 + 1"}}],
    }
    late = 0.0

    async def watch() -> None:
        nonlocal late
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            late = max(late, time.monotonic() - before)

    watching = asyncio.create_task(watch())
    with pytest.raises(InputError, match="do not fit its parameters"):
        await graphs.load("workflow", context={"plan": plan}).ainvoke({"inputs": {"p": text}})
    watching.cancel()
    assert late < 5
