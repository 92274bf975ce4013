"""Arguments in one spelling."""

from typing import Any

import pytest
from pydantic import BaseModel

from tools.exact import exact
from tools.tool import write


class Line(BaseModel):
    """A line of an order."""

    item: str
    count: int = 1


def order(lines: list[Line], note: str | None = None, to: Line | None = None) -> str:
    """Orders."""
    return ""


SCHEMA = write(order).args_schema


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"lines": []}, {"note": None, "lines": []}),
        ({"lines": [{"item": "a"}]}, {"lines": [{"count": 1.0, "item": "a"}]}),
        ({"lines": [], "to": {"item": "a"}}, {"to": {"item": "a", "count": 1}, "lines": [], "note": None}),
    ],
)
def test_the_same_in_other_words_is_the_same(one: Any, other: Any) -> None:
    assert exact(one, SCHEMA) == exact(other, SCHEMA)


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 5}, {"a": 5.5}), ({"a": "5"}, {"a": 5}), ({"a": float("inf")}, {"a": 1}), ({"a": 1}, {"a": 1, "b": None})],
)
def test_what_differs_stays_different(one: Any, other: Any) -> None:
    assert exact(one, {}) != exact(other, {})


def test_a_schema_that_cant_be_followed_still_leaves_numbers_alike() -> None:
    broken = {"anyOf": [{"$ref": "http://example.invalid/x"}], "properties": 7}
    assert exact({"a": 5.0}, broken) == {"a": 5}
