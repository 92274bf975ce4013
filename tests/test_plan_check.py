"""The check of a plan before it runs: each fault is found, named, and said with what would be right."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from nodes.drafting import content, new_steps, next_plan
from nodes.notations import evidence
from nodes.plan_check import check_plan
from state.context import Context
from state.plan import PlanDraft
from tests.support.plans import plan, step
from tools.catalogue import Catalogue
from tools.tool import read, write


class Film(TypedDict):
    """A film."""

    title: str
    year: int


def find(title: str, limit: int = 3) -> list[Film]:
    """Finds films."""
    return []


def add(a: float, b: float) -> float:
    """Adds."""
    return a + b


def say(text: str) -> str:
    """Says."""
    return text


def anything(text: str):  # type: ignore[no-untyped-def]  # its output is of no known type
    """Gives something."""
    return text


def pay(amount: float) -> dict[str, float]:
    """Pays."""
    return {"paid": amount}


class Price(TypedDict):
    """A price."""

    amount: float


def price() -> Price:
    """A price."""
    return {"amount": 1.0}


TOOLS = Catalogue([read(find), read(add), read(say), read(anything), write(pay), read(price)])


def steps_of(*steps: dict[str, Any]) -> Any:
    return new_steps(PlanDraft.model_validate(plan(*steps)), 1, {}, TOOLS)


def codes(*steps: dict[str, Any], **more: Any) -> list[str]:
    return [finding["code"] for finding in check_plan(steps_of(*steps), TOOLS, **more)]


def message(*steps: dict[str, Any], **more: Any) -> str:
    return check_plan(steps_of(*steps), TOOLS, **more)[0]["message"]


F = step("f", "find", {"title": "x"})
S = step("s", "say", {"text": "x"})

FAULTS: list[tuple[str, list[dict[str, Any]], list[str]]] = [
    ("empty", [], ["empty_plan"]),
    ("unknown tool", [step("a", "sya", {"text": "x"})], ["unknown_tool"]),
    ("missing argument", [step("a", "say")], ["missing_argument"]),
    ("unknown argument", [step("a", "say", {"text": "x", "loud": True})], ["bad_arguments"]),
    ("wrong type", [step("a", "add", {"a": "one", "b": 2})], ["bad_arguments"]),
    ("text with a reference", [F, step("a", "add", {"a": "${steps.f[0].year}!", "b": 1})], ["bad_arguments"]),
    ("reference of the wrong type", [F, step("a", "add", {"a": "${steps.f[0].title}", "b": 1})], ["bad_arguments"]),
    ("list where a text is due", [F, step("a", "say", {"text": "${steps.f}"})], ["bad_arguments"]),
    ("dangling reference", [step("a", "say", {"text": "${steps.z}"})], ["unresolved_reference"]),
    ("dangling after", [step("a", "say", {"text": "x"}, after=["z"])], ["unresolved_reference"]),
    ("unknown input", [step("a", "say", {"text": "${steps.inputs.name}"})], ["unresolved_reference"]),
    ("item without each", [step("a", "say", {"text": "${steps.item}"})], ["unresolved_reference"]),
    ("self reference", [step("a", "say", {"text": "${steps.a}"})], ["self_reference"]),
    ("duplicate", [F, step("f", "say", {"text": "x"})], ["duplicate_id"]),
    ("reserved", [step("inputs", "say", {"text": "x"})], ["reserved_id"]),
    ("bad id", [step("1a", "say", {"text": "x"})], ["bad_id"]),
    ("bad condition", [step("a", "say", {"text": "x"}, accept=["is good"])], ["bad_condition"]),
    ("missing part", [step("p", "price", accept=["amonut > 0"])], ["bad_condition"]),
    ("condition on a part of a list", [{**F, "accept": ["output.length > 0"]}], ["bad_condition"]),
    ("guard without step", [step("a", "say", {"text": "x"}, when="1 > 0")], ["bad_condition"]),
    ("guard as a reference", [F, step("a", "say", {"text": "x"}, when="${steps.f} != null")], ["bad_condition"]),
    ("guard on an item", [F, step("m", "say", {"text": "${steps.item.title}"}, each="${steps.f}",
     when="steps.item.year > 0")], ["bad_condition"]),
    ("guard on what can't be there", [S, step("a", "say", {"text": "x"}, when="steps.s.rows > 0")], ["bad_condition"]),
    ("guard on an unknown input", [step("a", "say", {"text": "x"}, when="steps.inputs.limit > 0")],
     ["unresolved_reference"]),
    ("condition on an unknown input", [step("a", "say", {"text": "x"}, accept=["output != steps.inputs.word"])],
     ["unresolved_reference"]),
    ("condition on another step", [F, step("x", "anything", {"text": "x"}, accept=["output == steps.f"])],
     ["bad_condition"]),
    ("each over an unknown input", [step("a", "say", {"text": "${steps.item}"}, each="${steps.inputs.all}")],
     ["unresolved_reference"]),
    ("each over a text", [S, step("a", "say", {"text": "${steps.item}"}, each="${steps.s}")], ["bad_each"]),
    ("each without item", [F, step("a", "say", {"text": "x"}, each="${steps.f}")], ["bad_each"]),
    ("each that is no reference", [step("a", "say", {"text": "${steps.item}"}, each="all files")], ["bad_each"]),
    ("bad item type", [F, step("a", "say", {"text": "${steps.item.year}"}, each="${steps.f}")], ["bad_arguments"]),
    ("fallback with an unknown tool", [step("a", "say", {"text": "x"}, fallback={"tool": "z"})], ["unknown_tool"]),
    ("no fallback", [step("a", "say", {"text": "x"}, on_failure="fallback")], ["no_fallback"]),
    ("a cycle", [step("a", "say", {"text": "${steps.b}"}), step("b", "say", {"text": "${steps.a}"})], ["cycle"]),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "found"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_each_fault_of_a_plan_is_found_and_named(steps: list[dict[str, Any]], found: list[str]) -> None:
    assert codes(*steps) == found


GOOD: list[list[dict[str, Any]]] = [
    [F, step("a", "add", {"a": "${steps.f[0].year}", "b": 1}), step("s", "say", {"text": "it is ${steps.a}"})],
    [step("x", "anything", {"text": "x"}), step("a", "add", {"a": "${steps.x.deep[0]}", "b": "${steps.x}"})],
    [F, step("m", "say", {"text": "${steps.item.title}"}, each="${steps.f}")],
    [F, step("m", "add", {"a": "${steps.item.year}", "b": 0}, each="${steps.f}"),
     step("l", "add", {"a": "${steps.m[0]}", "b": 0})],
    [step("p", "pay", {"amount": 1}), step("a", "add", {"a": "${steps.p.paid}", "b": 0})],
    [F, step("a", "say", {"text": "x"}, when="steps.f != null")],
    [step("a", "say", {"text": "${HOME} ${steps.} #E1 $1"})],
    [step("p", "price", accept=["amount > 0", "output.amount > 0", "output['amount'] > 0", "len(output) == 1"])],
    [step("p", "anything", {"text": "x"}, accept=["rows > 0", "output.rows > 0"])],
    [F, step("a", "say", {"text": "x"}, when="len(steps.f) > 0 and steps.f[0].title.lower() == 'x'")],
]  # fmt: skip


@pytest.mark.parametrize("steps", GOOD)
def test_a_good_plan_has_no_finding(steps: list[dict[str, Any]]) -> None:
    assert check_plan(steps_of(*steps), TOOLS) == []


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
                   "any": {}, "maybe": {"anyOf": [{"type": "object"}, {"type": "null"}]}},
    "additionalProperties": False,
    "$defs": {"part": {"type": "object", "properties": {"size": {"type": "number"}}, "additionalProperties": False}},
}  # fmt: skip
PATHS = {
    ".nmae": "there is no 'nmae'; there is ['any', 'maybe', 'name', 'parts']",
    ".name.first": "there is a string, which has no part 'first'",
    "[0]": "there is an object, which has no part [0]",
    ".parts.size": "there is an array, which has no part 'size'",
    ".parts[0].weight": "there is no 'weight'; there is ['size']",
    ".parts[0].size": "", ".parts[-1]": "", ".parts[*].weight": "", ".any.thing[3]": "", ".maybe.x": "", "": "",
}  # fmt: skip


def paths_found(schema: dict[str, Any], *steps: dict[str, Any]) -> list[str]:
    tools = Catalogue([replace(read(anything, name="make"), output_schema=schema), read(anything)])
    draft = PlanDraft.model_validate(plan(step("m", "make", {"text": "x"}), *steps))
    found = check_plan(new_steps(draft, 1, {}, tools), tools)
    return [finding["message"] for finding in found if finding["code"] == "unresolved_reference"]


@pytest.mark.parametrize(("path", "why"), PATHS.items())
def test_a_path_that_the_declared_output_can_not_hold_is_a_finding(path: str, why: str) -> None:
    reference, item = f"${{steps.m{path}}}", f"${{steps.item{path}}}"
    said = [f"step 's': {reference} leads nowhere: {why}"] if why else []
    assert paths_found(CLOSED, step("s", "anything", {"text": reference})) == said
    assert paths_found(CLOSED, step("s", "anything", {"text": [f"so: {reference}"]})) == said
    fallback = {"tool": "anything", "args": {"text": reference}}
    assert paths_found(CLOSED, step("s", "anything", {"text": "x"}, fallback=fallback)) == said
    many = {"type": "array", "items": CLOSED, "$defs": CLOSED["$defs"]}
    mapped = step("s", "anything", {"text": item}, each="${steps.m}")
    assert paths_found(many, mapped) == [line.replace("steps.m", "steps.item") for line in said]


def test_findings_say_what_would_be_right() -> None:
    assert "did you mean 'say'" in message(step("a", "sya", {"text": "x"}))
    assert "the tool takes ['text']" in message(step("a", "say", {"text": "x", "loud": True}))
    assert "there are ['a', 'b']" in message(step("a", "say", {"text": "${steps.z}"}), step("b", "say", {"text": "x"}))
    assert "there are ['who']" in message(step("a", "say", {"text": "${steps.inputs.name}"}), inputs={"who": "x"})


def test_a_denied_tool_is_a_finding_before_anything_runs() -> None:
    pay_it = step("p", "pay", {"amount": 1})
    assert codes(pay_it, context=Context(deny=["pay"])) == ["forbidden_tool"]
    assert codes(pay_it, context=Context(allow=["say"])) == ["forbidden_tool"]
    assert codes(pay_it, context=Context(), constraints={"read_only": True}) == ["forbidden_tool"]
    assert codes(pay_it, context=Context(), constraints={"forbid": "pay"}) == ["forbidden_tool"]
    assert codes(pay_it, context=Context()) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_a_cycle_is_found_exactly_when_there_is_one(edges: list[tuple[int, int]]) -> None:
    steps = [step(f"s{n}", "anything", {"text": "x"}, after=[f"s{b}" for a, b in edges if a == n]) for n in range(7)]
    reached = {n: {b for a, b in edges if a == n} for n in range(7)}
    for _ in range(7):
        reached = {n: found | {far for near in found for far in reached[near]} for n, found in reached.items()}
    cyclic = any(n in found for n, found in reached.items())
    assert bool({"cycle", "self_reference"} & set(codes(*steps))) == cyclic


def test_evidence_10_is_not_evidence_1_in_a_rewoo_plan() -> None:
    draft = PlanDraft.model_validate(
        plan(*(step(f"E{n}", "say", {"text": f"#E{n - 1}0 #E{n - 1}"}) for n in range(1, 13)))
    )
    assert evidence(draft).steps[1].args == {"text": "${steps.E10} ${steps.E1}"}
    assert evidence(draft).steps[11].args == {"text": "${steps.E110} ${steps.E11}"}


def test_a_new_version_gives_fresh_ids_keeps_what_is_finished_and_says_the_difference() -> None:
    first = next_plan(None, steps_of(F, step("g", "say", {"text": "${steps.f}"}), step("h", "say", {"text": "h"})), {},
                      goal="g", constraints=[], reason="first plan", by="planner")  # fmt: skip
    results: Any = {
        "f": {"status": "done", "hash": "", "tool": "find", "parts": [], "effect": "read"},
        "g": {"status": "failed", "effect": "read"}, "h": {"status": "not_run", "effect": "read"},
    }  # fmt: skip
    draft = PlanDraft.model_validate(plan(
        step("g", "say", {"text": "better ${steps.f[0].title}"}),
        step("i", "say", {"text": "${steps.g}"}, after=["g"], when="steps.g != '' and steps['g'] != 'g'"),
    ))  # fmt: skip
    again = new_steps(draft, 2, results, TOOLS)
    second = next_plan(first, again, results, goal="", constraints=[], reason="g failed", by="planner")
    assert [s["id"] for s in second["steps"]] == ["f", "g_v2", "i"]
    assert second["steps"][2]["args"] == {"text": "${steps.g_v2}"}
    assert second["steps"][2]["after"] == ["g_v2"]
    assert second["steps"][2]["when"] == "steps.g_v2 != '' and steps[\"g_v2\"] != 'g'"
    assert second["change"] == {"kept": ["f"], "changed": ["g_v2"], "added": ["i"], "dropped": ["h"]}
    assert check_plan(again, TOOLS, done=results) == []


def test_two_plans_that_do_the_same_under_other_ids_are_the_same_plan() -> None:
    one = steps_of(F, step("s", "say", {"text": "${steps.f[0].title}"}))
    same = steps_of(step("x", "find", {"title": "x"}), step("y", "say", {"text": "${steps.x[0].title}"}))
    other = steps_of(step("x", "find", {"title": "z"}), step("y", "say", {"text": "${steps.x[0].title}"}))
    assert content(one) == content(same)
    assert content(one) != content(other)
