"""Saved plans: the form of the file, what is wrong with one, and that what is written is what is read."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodes.plan_file import in_short, known_plans, plan_text, read_plan, read_text
from nodes.strict_yaml import YamlFault, read_yaml, write_yaml
from state.errors import InputError
from state.plan import StepDraft
from state.workflow import PlanFile

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12,
)  # fmt: skip
STEPS = st.builds(
    StepDraft, id=TEXTS, tool=TEXTS, args=st.dictionaries(TEXTS, VALUES, max_size=3), after=st.lists(TEXTS, max_size=2),
    why=TEXTS, accept=st.lists(TEXTS, max_size=2), timeout=st.none() | st.floats(0.1, 1e6), critical=st.booleans(),
    retries=st.none() | st.integers(0, 10), each=st.none() | TEXTS, when=st.none() | TEXTS,
)  # fmt: skip
SCHEMAS = st.dictionaries(TEXTS, st.just({"type": "string"}) | st.fixed_dictionaries({"default": VALUES}), max_size=3)
PLANS = st.builds(
    PlanFile, goal=TEXTS.filter(bool), steps=st.lists(STEPS, min_size=1, max_size=3),
    parameters=st.just({}) | st.fixed_dictionaries({"type": st.just("object"), "properties": SCHEMAS}),
)  # fmt: skip
TRICKY = [
    "yes", "no", "on", "null", "~", "", "true", "2024-01-01", "12:30", "0x1f", "007", "1_000", "1e5", "1.0", "<<", "=",
    ".inf", "- a", "a: b", "#x", " x ", "!t", "*a", "&a", "a\nb", "a\n", " a\nb\n\n", "\x85", "\u2028", "\ufeff",
    "你好",
]  # fmt: skip


@pytest.mark.parametrize("ending", ["yaml", "json"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=PLANS)
def test_a_plan_that_is_written_is_read_as_it_was(plan: PlanFile, ending: str) -> None:
    as_read = read_plan(plan.model_dump(exclude_defaults=True))
    again = read_text(plan_text(as_read, f"p.{ending}"), f"p.{ending}")
    assert {**again, "source": "", "lines": {}} == {**as_read, "source": "", "lines": {}}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=VALUES)
def test_yaml_gives_every_json_value_back_with_its_type(value: Any) -> None:
    again, _ = read_yaml(write_yaml(value))
    assert repr(again) == repr(value)


@pytest.mark.parametrize("text", TRICKY)
def test_a_text_that_looks_like_something_else_stays_a_text(text: str) -> None:
    assert read_yaml(write_yaml({"a": text, text: 1}))[0] == {"a": text, text: 1}


def test_yaml_is_read_as_json_means_it() -> None:
    text = "a: yes\nb: 2024-01-01\nc: 1e5\nd: 007\ne: 1.5\nf: [x, {y: 1}]\ng: true\nh:\n"
    assert read_yaml(text)[0] == {
        "a": "yes", "b": "2024-01-01", "c": 100000.0, "d": "007", "e": 1.5, "f": ["x", {"y": 1}], "g": True, "h": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: 1\na: 2", 2, "stands here twice"), ("a: &x 1\nb: *x", 1, "alias"), ("1: 2", 1, "must be a text"),
        ("a: !!python/object:os.system x", 1, "tag"), ("a:\n  - [", 2, "expected"), ("[" * 5000, 0, "too deep"),
        ("a: 1e999", 1, "too large"), ("- a\n---\n- b", 2, "another document"), ("a: !!int x", 1, "is no int"),
        ("a: \x00", 0, "not allowed"), ("a: " + "9" * 5000, 1, "digits"),
    ],
)  # fmt: skip
def test_what_yaml_may_not_say_is_named_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(YamlFault, match=why) as caught:
        read_yaml(text)
    assert caught.value.line == line


GOOD = """goal: the price
parameters:
  type: object
  properties: {count: {type: integer}}
steps:
  - id: s1
    tool: calculator
    args: {expression: "${steps.inputs.count} * 2"}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("goal: the price\n", "", "p.yaml:1: goal: it is missing"),
        ("goal:", "gaol:", "p.yaml:1: gaol: there is no such field; did you mean 'goal'?"),
        ("    tool: calculator\n", "", "p.yaml:6: steps.0.tool: it is missing"),
        ("    args:", "    argz:", "p.yaml:8: steps.0.argz: there is no such field; did you mean 'args'?"),
        ("id: s1", "id: 1", "p.yaml:6: steps.0.id: Input should be a valid string, got 1"),
        ("type: object", "type: list", "p.yaml:2: parameters: right would be"),
        ("type: integer", "type: number_", "p.yaml:2: parameters: "),
        (GOOD[GOOD.index("steps:") :], "steps: []\n", "p.yaml:5: steps: there is none; give at least one"),
        (GOOD, "", "p.yaml: it is empty; right would be"),
        (GOOD, "- a\n", "p.yaml: it holds a list and no plan; right would be a mapping with goal and steps"),
        ("goal: the price", "goal: [", "p.yaml:3: "),
    ],
)  # fmt: skip
def test_an_error_names_file_line_value_and_what_would_be_right(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read_text(GOOD.replace(old, new, 1), "p.yaml")
    assert said in str(caught.value)


def test_a_text_that_could_only_be_kept_as_another_is_refused() -> None:
    steps = [{"id": "a", "tool": "write_file", "args": {"path": "a\0b.txt", "text": "x"}}]
    with pytest.raises(InputError, match=r"setting plan: the text 'a\\x00b.txt' holds a NUL"):
        read_plan({"goal": "x", "steps": steps})
    with pytest.raises(InputError, match=r"p.json: the text 'a\\x00b.txt' holds a NUL"):
        read_text(json.dumps({"goal": "x", "steps": steps}), "p.json")


def test_json_is_read_strictly_with_lines_too() -> None:
    good = json.dumps(read_plan({"goal": "x", "steps": [{"id": "a", "tool": "t"}]}) | {"source": ""})
    with pytest.raises(InputError, match=r"p\.json:1: source: there is no such field"):
        read_text(good, "p.json")
    for text, said in (
        ('{"goal": "a", "goal": "b"}', "twice in one object"), ('{\n"goal": NaN}', "NaN is no number"),
        ('{\n"goal": }', "p.json:2: Expecting value"), ('{"a":' * 100_000, "nested too deep"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=said):
            read_text(text, "p.json")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.txt", b"x", "should be a file that ends in .yaml, .yml, .json"),
        ("no.yaml", None, "can't be read: No such"),
        ("p.yaml", b"\xff", "no UTF-8 text, at byte 0"), ("p.yaml", b"#" * 1_000_001, "1,000,000 bytes"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_one_line(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_plan(tmp_path / name)


def test_the_plans_of_a_folder_are_known_by_name_and_broken_ones_are_said(tmp_path: Path) -> None:
    (tmp_path / "price.yaml").write_text(GOOD)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "notes.txt").write_text("x")
    found, wrong = known_plans(str(tmp_path))
    assert list(found) == ["price"] and found["price"]["lines"] == {"s1": 6}
    assert len(wrong) == 1 and "broken.json:1" in wrong[0]
    with pytest.raises(InputError, match="there is no folder"):
        known_plans(str(tmp_path / "none"))


def test_nothing_outside_a_folder_of_plans_is_read_and_nothing_that_is_no_plan_is_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    (tmp_path / "price.yaml").write_text(GOOD)
    (folder / "link.yaml").symlink_to(tmp_path / "price.yaml")
    (folder / "own.yaml").write_text(GOOD)
    (folder / "same.yaml").symlink_to(folder / "own.yaml")
    (folder / "itself.yaml").symlink_to("itself.yaml")
    (folder / "long.yaml").symlink_to("x" * 300)
    (folder / "words.yaml").write_text("root:x:0:0:root:/root")
    found, wrong = known_plans(str(folder))
    assert list(found) == ["own", "same"]
    assert "link.yaml: it leads out of the folder" in wrong[0]
    assert "words.yaml: it holds a text and no plan" in wrong[1] and "root:x" not in str(wrong)


def test_a_prompt_holds_a_plan_in_short() -> None:
    plan = read_text(GOOD.replace("goal: the price", f"goal: the price {'x' * 100_000}"), "p.yaml")
    assert len(json.dumps(in_short(plan, "p"))) < 1_000
    assert in_short(plan, "p")["parameters"]["count"].startswith("integer")
