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
from state.schemas import schema_fault, validator

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
    ours = [list(error.absolute_path) for error in validator(schema).iter_errors(value)]
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
