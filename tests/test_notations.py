"""Other notations for references are read exactly: E1 is not E10, and what is no reference stays text."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.notations import dollars, evidence, hashes, labels, nodes
from state.plan import PlanDraft
from state.references import resolve

NUMBER = st.integers(0, 120)
NUMBERS = st.lists(NUMBER, min_size=1, max_size=8)
BETWEEN = st.sampled_from([" ", ", ", " and ", "(", ").", '"', "'", "+", "-", "\n", "。", "/"])
FIELD = st.sampled_from(["x", "x1", "total", "exchange rate", "date-of-birth", "名称"])
STEPS = {f"{mark}{n}": f"<{n}>" for n in range(121) for mark in ("E", "s", "var")}
NAMES = {n: f"s{n}" for n in range(121)}
SPELLED: dict[str, tuple[str, Any]] = {
    "rewoo": ("#E{}", lambda value: evidence_args(value)),
    "nestful": ("$var{}$", labels),
    "mathqa": ("#{}", lambda value: hashes(value, NAMES)),
    "llmcompiler": ("${}", lambda value: dollars(value, NAMES)),
    "taskbench": ("<node-{}>", lambda value: nodes(value, NAMES)),
}


def evidence_args(value: Any) -> Any:
    draft = PlanDraft.model_validate({"steps": [{"id": "E1", "tool": "t", "args": {"value": value}}]})
    return evidence(draft).steps[0].args["value"]


@pytest.mark.parametrize("notation", SPELLED)
@settings(deadline=None)
@given(numbers=NUMBERS, glue=BETWEEN)
def test_each_number_is_read_whole(notation: str, numbers: list[int], glue: str) -> None:
    mark, reader = SPELLED[notation]
    written = glue.join(mark.format(n) for n in numbers)
    assert resolve([reader(f"{glue}{written}{glue}")], STEPS) == [f"{glue}{glue.join(f'<{n}>' for n in numbers)}{glue}"]


@pytest.mark.parametrize("notation", SPELLED)
@settings(deadline=None)
@given(number=NUMBER, value=st.sampled_from([7, 0.5, True, None, ["a"], {"a": 1}]))
def test_a_whole_value_keeps_its_type_anywhere_in_a_nested_value(notation: str, number: int, value: Any) -> None:
    mark, reader = SPELLED[notation]
    read = reader({"list": [{"deep": mark.format(number)}]})
    outputs = {name: value if name.endswith(f"{number}") else "other" for name in STEPS}
    assert resolve(read, outputs) == {"list": [{"deep": value}]}


@settings(deadline=None)
@given(number=NUMBER, fields=st.lists(FIELD, min_size=1, max_size=3), place=st.integers(0, 2))
def test_a_label_with_a_path_finds_that_part_of_that_result(number: int, fields: list[str], place: int) -> None:
    output: Any = [f"item {n} of {number}" for n in range(3)]
    for field in reversed(fields):
        output = {field: output}
    outputs = {f"var{n}": output if n == number else {"x": "another"} for n in range(121)}
    label = f"$var{number}.{'.'.join(fields)}[{place}]$"
    assert resolve(labels({"a": label, "b": f"so: {label}!"}), outputs) == {
        "a": f"item {place} of {number}",
        "b": f"so: item {place} of {number}!",
    }


@settings(deadline=None)
@given(number=NUMBER)
def test_evidence_alone_may_have_a_path(number: int) -> None:
    outputs = {f"E{n}": {"rows": [{"x": n}], "name": f"n{n}"} for n in range(121)}
    assert resolve(evidence_args(f"#E{number}.rows[0].x"), outputs) == number
    assert evidence_args(f"see #E{number}.name") == f"see ${{steps.E{number}}}.name"


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (evidence_args, "#E, E1, # E1, #e1, ##, $1, <node-1>, $var1.x$"),
        (labels, "$100-$200, $var$, $variable1$, var1.x$, $var1.x, #E1, $1"),
        (lambda value: hashes(value, {0: "o0"}), "#E1, #1, #12, # 0, #x, $0"),
        (lambda value: dollars(value, {1: "s1"}), "$5, $100, $ 1, $x, US$20, #1, $var1$"),
        (lambda value: nodes(value, {1: "n1"}), "<node-2>, <node>, <node-1, node-1>, <nodes-1>"),
    ],
)
def test_what_is_no_reference_stays_text(reader: Any, text: str) -> None:
    assert reader({"a": [text]} if reader is not evidence_args else text) == (
        {"a": [text]} if reader is not evidence_args else text
    )
