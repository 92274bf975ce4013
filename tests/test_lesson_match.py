"""F7: whether a lesson fits: 0.4 intent + 0.3 error pattern + 0.3 step context, used from 0.85; over what is known."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.lesson_drafts import Failed, draft_by_rules, groups
from nodes.lesson_match import USED_FROM, Situation, fitting, score, weighed
from nodes.lessons import cosine
from nodes.likeness import alike
from state.lesson import LOSES_AT, Lesson, Origin, Scope, booked, is_expired, is_for, is_live, new_lesson, outcome_of
from state.stop import StopReason, stop

EVERYBODY: Scope = {"tenant": "", "thread": "", "pattern": "", "tools": [], "tags": []}
ORIGIN: Origin = {"runs": ["r"], "pattern": "self_reflection", "attempt": 1}
part = st.none() | st.floats(0, 1)


def lesson(intent: str = "weather in Paris", error: str = "", step: str = "", **more: Any) -> Lesson:
    scope: Any = EVERYBODY | {name: more.pop(name) for name in list(more) if name in EVERYBODY}
    trigger: Any = {"intents": [intent] if intent else [], "error": error, "step": step}
    made: Any = new_lesson(("p", "c", more.pop("strategy", "s")), trigger, scope, ORIGIN, 0.0)
    return made | {"status": "approved"} | more  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("intent", "error", "step", "expected"),
    [
        (1.0, 1.0, 1.0, 1.0),
        (1.0, 0.5, 1.0, 0.85),
        (1.0, 1.0, 0.0, 0.7),
        (0.0, 1.0, 1.0, 0.6),
        (0.625, 1.0, 1.0, 0.85),
        (0.9, None, None, 0.9),
        (1.0, 0.0, None, 0.4 / 0.7),
        (None, 1.0, 0.5, 0.75),
        (None, None, None, 0.0),
    ],
)
def test_the_score_is_the_weighted_sum_over_what_is_known(
    intent: float | None, error: float | None, step: float | None, expected: float
) -> None:
    assert weighed({"intent": intent, "error": error, "step": step}) == pytest.approx(expected)


@given(part, part, part, st.sampled_from(["intent", "error", "step"]), st.floats(0, 1))
def test_the_score_is_bounded_and_grows_with_each_part(
    intent: float | None, error: float | None, step: float | None, name: str, more: float
) -> None:
    parts = {"intent": intent, "error": error, "step": step}
    before = weighed(parts)
    assert 0.0 <= before <= 1.0
    if (value := parts[name]) is not None:
        assert weighed({**parts, name: value + (1 - value) * more}) >= before - 1e-9


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_bounded_the_same_both_ways_and_1_for_a_text_and_itself(one: str, other: str) -> None:
    assert 0.0 <= alike(one, other) <= 1.0
    assert alike(one, other) == alike(other, one)
    assert alike(one, one) == (1.0 if one.strip() else 0.0)


@given(st.lists(st.floats(-1e6, 1e6), max_size=4), st.lists(st.floats(-1e6, 1e6), max_size=4))
def test_the_cosine_of_vectors_is_bounded(one: list[float], other: list[float]) -> None:
    assert 0.0 <= cosine(one, other) <= 1.0


@pytest.mark.parametrize(
    ("one", "other", "used"),
    [
        ("What is the weather in Paris today?", "What is the weather in Rome today?", True),
        ("add 17 and 25, then multiply it by 3", "add 1 and 2, then multiply it by 30", True),
        ('search for "red pens" in docs/a.txt', 'searching for "ink" in reports/2024/b.txt', True),
        ("delete all files of the customer", "read all files of the customer", False),
        ("weather in Paris", "flights to Paris", False),
        ("查询今天巴黎的天气", "查询今天巴黎的天气。", True),
        ("查询今天巴黎的天气", "删除今天巴黎的邮件", False),
        ("rate_limit: API quota exceeded", "rate_limit: API quota exceeded", True),
        ("rate_limit: API quota exceeded", "not_found: there is no city Atlantis", False),
    ],
)
def test_texts_are_alike_by_their_words_and_not_by_their_values(one: str, other: str, used: bool) -> None:
    assert (alike(one, other) >= USED_FROM) == used


def test_before_anything_went_wrong_the_intent_alone_decides() -> None:
    learned = lesson("weather in Paris", "rate_limit: API quota exceeded", "weather city")
    assert score(learned, Situation("weather in Rome"), alike) == 1.0
    assert fitting([learned], [Situation("mail the report to the team")], alike) == []


def test_another_error_in_the_same_task_is_no_match() -> None:
    learned = lesson("weather in Paris", "rate_limit: API quota exceeded", "weather city")
    other = Situation("weather in Paris", "auth: the key is wrong", "weather city")
    assert score(learned, other, alike) == pytest.approx(0.7)
    assert fitting([learned], [other], alike) == []


def test_the_same_failure_in_a_task_that_is_only_near_is_a_match() -> None:
    learned = lesson("查询今天巴黎的天气", "rate_limit: API quota exceeded", "weather city")
    near = Situation("查询今天罗马的天气", "rate_limit: API quota exceeded", "weather city")
    assert alike("查询今天巴黎的天气", "查询今天罗马的天气") < USED_FROM <= score(learned, near, alike)


def test_of_those_that_fit_alike_the_one_that_helped_more_is_told_first_and_three_at_most() -> None:
    some = [lesson(strategy=f"way {n}", id=f"l{n}", helps=n) for n in range(5)]
    assert [one["id"] for one, _ in fitting(some, [Situation("weather in Rome")], alike)] == ["l4", "l3", "l2"]


@pytest.mark.parametrize(
    ("scope", "fits"),
    [
        ({}, True),
        ({"tenant": "acme"}, False),
        ({"thread": "t1"}, True),
        ({"thread": "t2"}, False),
        ({"pattern": "rewoo"}, True),
        ({"pattern": "react"}, False),
        ({"tools": ["weather"]}, True),
        ({"tools": ["weather", "sonar"]}, False),
        ({"tags": ["billing", "travel"]}, True),
        ({"tags": ["billing"]}, False),
    ],
)
def test_a_lesson_is_for_those_in_its_scope(scope: dict[str, Any], fits: bool) -> None:
    here: Scope = {"tenant": "", "thread": "t1", "pattern": "rewoo", "tools": ["weather", "search"], "tags": ["travel"]}
    assert is_for(lesson(**scope), here) == fits


def test_a_tenant_sees_no_lesson_of_nobody_either() -> None:
    assert not is_for(lesson(), EVERYBODY | {"tenant": "acme"})  # type: ignore[arg-type]


def test_only_what_is_approved_and_not_expired_is_live() -> None:
    assert is_live(lesson(), 5) and is_live(lesson(expires=6.0), 5)
    assert not is_live(lesson(expires=5.0), 5) and is_expired(lesson(expires=5.0), 5)
    assert not is_live(lesson(status="draft"), 5) and not is_live(lesson(status="off"), 5)


def test_a_run_counts_once_for_a_lesson_and_helping_makes_it_last_anew() -> None:
    once = booked(lesson(expires=10.0), "r1", "helped", 99.0)
    assert (once["helps"], once["helped"], once["expires"]) == (1, ["r1"], 99.0)
    assert booked(once, "r1", "did not help", 99.0) is once
    assert booked(once, "r2", "open", 99.0) is once


def test_a_lesson_that_failed_to_help_three_times_more_than_it_helped_is_put_off() -> None:
    losing = booked(lesson(), "good", "helped", None)
    for number in range(LOSES_AT):
        losing = booked(losing, f"r{number}", "did not help", None)
        assert losing["status"] == "approved"
    losing = booked(losing, "last", "did not help", None)
    assert losing["status"] == "off" and losing["note"] == "put off by itself: told in 5 runs, it helped in 1"


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (StopReason.DONE, "helped"),
        (StopReason.STEPS_FAILED, "did not help"),
        (StopReason.TOKENS, "did not help"),
        (StopReason.UNVERIFIED, "open"),
        (StopReason.NEEDS_APPROVAL, "open"),
        (StopReason.MODEL_FAILED, "open"),
        (StopReason.REJECTED, "open"),
        (StopReason.PLANNED, "open"),
    ],
)
def test_an_end_says_something_about_a_lesson_only_where_it_is_its_merit_or_fault(
    reason: StopReason, outcome: str
) -> None:
    assert outcome_of(stop(reason, "so")) == outcome


def failed(run: str, error: str, cls: str = "not_found", tool: str = "read_file", tenant: str = "") -> Failed:
    return Failed(run, tenant, "rewoo", f"do {run}", tool, cls, f"{cls}: {error}", f"{tool} path")


def test_failures_of_one_kind_are_drafted_together_the_most_frequent_first() -> None:
    found = groups([
        failed("r1", "the mail server refused", "permanent", "send_mail"), failed("r2", "there is no file 'a.txt'"),
        failed("r3", "there is no file 'b.txt'"), failed("r3", "there is no file 'c.txt'", tenant="acme"),
    ])  # fmt: skip
    assert [[one.run for one in group] for group in found] == [["r2", "r3"], ["r1"], ["r3"]]
    draft = draft_by_rules(found[0])
    assert draft["status"] == "draft" and draft["origin"]["runs"] == ["r2", "r3"]
    assert draft["problem"] == "read_file failed in 2 runs: there is no file 'a.txt'"
    assert draft["scope"]["tools"] == ["read_file"] and "{" not in draft["cause"] + draft["strategy"]


def test_every_class_of_failure_has_words() -> None:
    from typing import get_args

    from state.result import FailureClass

    for cls in get_args(FailureClass):
        draft = draft_by_rules([failed("r", "so {tool} it is", cls)])
        assert draft["cause"] and "read_file" in draft["cause"] + draft["strategy"]
