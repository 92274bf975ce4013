"""S2: today's weather in Paris, in Chinese; the weather tool's quota is used up, so another way has to be found."""

import re
from pathlib import Path
from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import (
    TURNING,
    WHOLE_PLANS,
    after_planning,
    gives_up,
    grade,
    in_turns,
    look,
    plan,
    reflection,
    results,
    roles,
    says,
    statuses,
    step,
)  # fmt: skip
from tests.support.script import Reply
from tools.tool import Tool, read

TASK = "查询巴黎今天的天气，并翻译成中文。"
FOUND = "Paris weather today: 12 °C, cloudy."
CHINESE = "巴黎今天的天气：12 °C，多云。"
QUOTA = "API quota exceeded"


def by_exception(city: str) -> str:
    """Gives the weather of a city."""
    raise RuntimeError(QUOTA)


def by_output(city: str) -> Any:
    """Gives the weather of a city."""
    return {"error": QUOTA}


@pytest.fixture(params=[by_exception, by_output])
def weather(request: pytest.FixtureRequest) -> Tool:
    """The weather tool, which says in one of two ways that it can't."""
    return read(request.param, name="weather")


@pytest.fixture
def context(weather: Tool, root: Path, tmp_path: Path) -> dict[str, Any]:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "paris.txt").write_text(FOUND, encoding="utf-8")
    (pages / "london.txt").write_text("London weather today: 9 °C, rain.", encoding="utf-8")
    (pages / "paris-history.md").write_text("# Paris\n\nParis was founded long ago.\n")
    limits = {"retries": 0}
    return {
        "tools": [weather, "search", "translate"], "root": str(root), "documents": str(pages), "limits": limits,
    }  # fmt: skip


def first_plan(**more: Any) -> list[dict[str, Any]]:
    return [
        step("w1", "weather", city="Paris", more=more),
        step("t1", "translate", text="${steps.w1}", language="中文", more={"produces": "中文天气"}),
    ]


SECOND = [
    step("s1", "search", query="Paris weather today", limit=1),
    step("t1", "translate", text="${steps.s1[0].text}", language="中文"),
]


def translation() -> Reply:
    """The executor's model, which translates what search found and nothing else."""
    return Reply(CHINESE, when=re.compile(f"(?s)Role: executor.*{re.escape(FOUND)}"))


def only_chinese_prompts(model_server: ModelServer) -> bool:
    return all(re.match(r"Role: \w+\n[一-鿿]", body["messages"][0]["content"]) for body in model_server.requests)


REPLIES: dict[str, list[Reply]] = {
    "plan_and_execute": [plan(*first_plan()), plan(*SECOND), translation(), says(CHINESE)],
    "plan_act_reflect": [
        plan(*first_plan()), look("revise", "改用搜索", "tool", steps=["w1"]), plan(*SECOND), translation(), look(),
        says(CHINESE),
    ],
    "self_reflection": [
        plan(*first_plan()), reflection("天气接口的额度已用完，改用搜索", "tool"), plan(*SECOND), translation(),
        says(CHINESE), grade(9, 9, 8),
    ],
}  # fmt: skip


BY_TURNS = {
    pattern: [*in_turns(*first_plan()[:1], *SECOND), translation(), *after_planning(pattern, CHINESE)]
    for pattern in TURNING
}  # fmt: skip
EVERY = REPLIES | BY_TURNS
BY_STEP = [("step", pattern) for pattern in REPLIES if pattern != "plan_act_reflect"]


@pytest.mark.parametrize(("check_after", "pattern"), [*(("plan", pattern) for pattern in EVERY), *BY_STEP])
def test_a_used_up_quota_is_got_around_by_a_search_which_is_then_translated(
    pattern: str, check_after: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*EVERY[pattern])
    report = load(pattern, context=context | {"check_after": check_after}).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    assert report["answer"] == CHINESE
    ran = {result["tool"]: result for result in report["results"] if result["status"] != "blocked"}
    assert ran["weather"]["failure"]["cls"] == "rate_limit"
    assert ran["search"]["output"][0]["text"] == FOUND and ran["translate"]["output"] == CHINESE
    assert [line.split(" ")[0] for line in report["missing"]] == (["t1"] if pattern in TURNING else [])


def test_a_look_after_each_step_drops_the_second_step_before_it_is_due(
    model_server: ModelServer, context: dict[str, Any]
) -> None:
    planned, revised, again, translated, looked, told = REPLIES["plan_act_reflect"]
    model_server.reply(planned, revised, again, translated, looked, looked, told)
    report = load("plan_act_reflect", context=context | {"reflect": "step"}).invoke({"task": TASK})["report"]
    assert (report["stop"]["reason"], report["answer"]) == ("done", CHINESE)
    assert statuses(report) == {"w1": "failed", "s1": "done", "t1": "done"}


@pytest.mark.parametrize("pattern", REPLIES)
def test_the_second_step_of_the_first_plan_is_blocked_and_never_runs(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*REPLIES[pattern])
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert statuses(report) == {"w1": "failed", "t1": "blocked", "s1": "done", "t1_v2": "done"}
    failed, blocked = results(report)["w1"], results(report)["t1"]
    assert failed["failure"] == {"kind": "tool", "cls": "rate_limit", "message": failed["failure"]["message"]}
    assert QUOTA in failed["failure"]["message"]
    assert blocked["attempts"] == 0 and blocked["output"] is None
    assert roles(model_server.requests).count("executor") == 1


@pytest.mark.parametrize("pattern", REPLIES)
def test_the_report_holds_both_plan_versions_with_reason_and_difference(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*REPLIES[pattern])
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    first, second = report["plans"]
    assert [first["version"], second["version"]] == [1, 2]
    assert first["change"] == {"kept": [], "changed": [], "added": [], "dropped": []}
    assert QUOTA in second["reason"] and "w1" in second["reason"]
    assert second["change"] == {"kept": [], "changed": ["t1_v2"], "added": ["s1"], "dropped": ["w1"]}
    assert report["counts"]["replans"] == 1


@pytest.mark.parametrize("pattern", REPLIES)
def test_the_replanner_sees_what_failed_and_why_and_not_the_whole_history(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*REPLIES[pattern])
    load(pattern, context=context).invoke({"task": TASK})
    asked = [body["messages"][-1]["content"] for body in model_server.requests]
    planners = [text for text, role in zip(asked, roles(model_server.requests), strict=True) if role == "planner"]
    assert QUOTA not in planners[0] and "<failed>" not in planners[0]
    assert QUOTA in planners[1] and '"weather"' in planners[1] and '"rate_limit"' in planners[1]
    assert len(model_server.requests[-1]["messages"]) == 2  # every question stands alone, no conversation grows


@pytest.mark.parametrize("pattern", EVERY)
def test_a_chinese_task_is_asked_in_chinese_and_stays_the_same_in_every_prompt(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(*EVERY[pattern])
    load(pattern, context=context).invoke({"task": TASK})
    assert only_chinese_prompts(model_server)
    by_role = zip(roles(model_server.requests), model_server.requests, strict=True)
    told = [body["messages"][1]["content"] for role, body in by_role if role != "executor"]
    carried_out = next(body for body in model_server.requests if "executor" in roles([body]))
    assert carried_out["messages"][1]["content"].startswith("把文本翻译成这种语言：中文")
    assert all(f'<task>\n"{TASK}"\n</task>' in text for text in told)


@pytest.mark.parametrize("pattern", TURNING)
def test_a_failed_call_is_what_the_next_turn_sees_and_no_weather_is_made_up_where_it_gives_up(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    sorry = "没有查到天气：接口额度已用完。"
    model_server.reply(*in_turns(*first_plan()[:1]), *gives_up(pattern, sorry))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert QUOTA in model_server.requests[1]["messages"][-1]["content"]
    assert (report["stop"]["reason"], report["stop"]["message"]) == ("cannot_be_done", sorry)
    assert report["answer"] and "12" not in report["answer"]
    assert only_chinese_prompts(model_server)


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_a_pattern_that_does_not_replan_says_what_failed_and_what_is_missing(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    model_server.reply(plan(*first_plan()))
    if pattern == "rewoo":
        model_server.reply(says("没有查到天气：接口额度已用完。"))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["kind"] == "failure" and report["stop"]["reason"] == "steps_failed"
    assert "w1" in report["stop"]["message"] and QUOTA in report["stop"]["message"]
    assert report["stop"]["evidence"] == ["w1", "t1"]
    assert statuses(report) == {"w1": "failed", "t1": "blocked"}
    assert [line.split(":")[0] for line in report["missing"]] == ["w1 (weather)", "t1 (中文天气)"]
    assert len(report["plans"]) == 1
    assert report["answer"] and "12" not in report["answer"]
    assert only_chinese_prompts(model_server)


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_fallback_in_the_plan_makes_every_pattern_that_plans_succeed_with_a_degraded_step(
    pattern: str, model_server: ModelServer, context: dict[str, Any]
) -> None:
    fallback = {"tool": "search", "args": {"query": "Paris weather today", "limit": 1}}
    steps = [
        step("E1", "weather", city="Paris", more={"on_failure": "fallback", "fallback": fallback}),
        step("E2", "translate", text="${steps.E1[0].text}", language="中文"),
    ]
    model_server.reply(plan(*steps), translation(), *after_planning(pattern, CHINESE))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {"E1": "degraded", "E2": "done"}
    assert report["answer"] == CHINESE
    first = results(report)["E1"]
    assert first["failure"]["cls"] == "rate_limit" and "search" in first["note"] and QUOTA in first["note"]
    assert any("E1" in risk and QUOTA in risk for risk in report["risks"])
    assert len(report["plans"]) == 1
