"""S7: finance, then legal; technical beside them; final after all. A late legal review is stood in for."""

import asyncio
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from graphs import load
from tests.support.model_server import ModelServer
from tests.support.runs import (
    ACTING,
    GRADED,
    TURNING,
    WHOLE_PLANS,
    after_planning,
    all_well,
    called,
    gives_up,
    in_turns,
    plan,
    results,
    says,
    statuses,
    step,
)  # fmt: skip
from tools.tool import Tool, read

TASK = "Get the approvals for the purchase of machine M7: finance, legal, technical, then the final decision."
NAP = 0.12
"""Seconds that a review takes; a step that waits for another begins after it."""


async def finance(item: str) -> Any:
    """Reviews the money."""
    await asyncio.sleep(NAP)
    return {"status": "approved", "amount": 42_000}


async def too_dear(item: str) -> Any:
    """Reviews the money."""
    return {"status": "approved", "amount": 61_000}


async def refused(item: str) -> Any:
    """Reviews the money."""
    return {"status": "refused", "amount": 42_000}


async def legal(item: str, amount: int) -> Any:
    """Reviews the contract."""
    await asyncio.sleep(NAP)
    return {"status": "approved", "by": "legal"}


async def late_legal(item: str, amount: int) -> Any:
    """Reviews the contract, too late."""
    await asyncio.sleep(30)


def technical(item: str) -> Any:
    """Reviews the machine; a plain function, which runs in a thread."""
    time.sleep(NAP)
    return {"status": "approved"}


async def by_mail(item: str) -> Any:
    """Asks the lawyers for a short confirmation by mail."""
    return {"status": "confirmed by mail", "by": "by_mail"}


async def final(finance: Any, legal: Any, technical: Any) -> Any:
    """Decides."""
    return {"decision": "go", "legal": legal["status"]}


def tools(**instead: Callable[..., Any]) -> list[Tool]:
    named = {"finance": finance, "legal": legal, "technical": technical, "by_mail": by_mail, "final": final} | instead
    return [read(function, name=name) for name, function in named.items()]


MONEY, LAW, TECH, FINAL = "t1", "t2", "t3", "t4"
"""What a planner calls its steps here is what turns are called."""
ACCEPT = ["status == 'approved'", "amount < 50000"]


def steps(**legal_more: Any) -> list[dict[str, Any]]:
    """Final stands first and technical last: what counts is who needs whom."""
    return [
        step(FINAL, "final", finance="${steps.t1}", legal="${steps.t2}", technical="${steps.t3}"),
        step(LAW, "legal", item="M7", amount="${steps.t1.amount}", more=legal_more),
        step(MONEY, "finance", item="M7", more={"accept": ACCEPT}),
        step(TECH, "technical", item="M7"),
    ]


def in_order() -> list[dict[str, Any]]:
    """The same steps as turns take them."""
    return sorted(steps(), key=lambda one: str(one["id"]))


def run(pattern: str, given: list[Tool], **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The report, and the events as they came in while it ran."""
    context = {"tools": given, "limits": {"retries": 0, "replans": 0, "attempts": 1}, **more}
    events: list[dict[str, Any]] = []
    state: dict[str, Any] = {}
    graph = load(pattern, context=context)
    for mode, part in graph.stream({"task": TASK}, stream_mode=["custom", "values"]):
        if mode == "custom":
            events.append(part)
        else:
            state = part
    return state["report"], events


def started(events: list[dict[str, Any]]) -> list[str]:
    return [event["step"] for event in events if event["event"] == "step_started"]


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_finance_comes_before_legal_with_technical_beside_them_and_final_after_all(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()), *after_planning(pattern, "Go.", once=True))
    report, events = run(pattern, tools())
    assert report["stop"]["reason"] == "done"
    ran = results(report)
    assert ran[MONEY]["ended"] <= ran[LAW]["started"]
    assert ran[TECH]["started"] < ran[MONEY]["ended"] and ran[MONEY]["started"] < ran[TECH]["ended"]
    assert ran[TECH]["ended"] < ran[LAW]["ended"]
    assert ran[FINAL]["started"] >= max(ran[name]["ended"] for name in (MONEY, LAW, TECH))
    assert set(started(events)[:2]) == {MONEY, TECH} and started(events)[2:] == [LAW, FINAL]
    assert ran[FINAL]["output"] == {"decision": "go", "legal": "approved"}


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_acceptance_is_decided_by_code_and_kept_with_its_evidence(pattern: str, model_server: ModelServer) -> None:
    model_server.reply(plan(*steps()), *after_planning(pattern, "Go.", once=True))
    report, _ = run(pattern, tools())
    checks = results(report)[MONEY]["checks"]
    assert [(check["condition"], check["outcome"], check["by"]) for check in checks] == [
        (ACCEPT[0], "passed", "code"), (ACCEPT[1], "passed", "code"),
    ]  # fmt: skip
    assert "42000" in checks[0]["evidence"]
    assert report["checks"] == {"passed": 2 + (pattern in GRADED), "failed": 0, "unverified": 0, "unchecked": 3}


@pytest.mark.parametrize(
    ("fallback", "law"),
    [
        ({"value": {"status": "not reviewed in time", "by": "plan"}}, "not reviewed in time"),
        ({"tool": "by_mail", "args": {"item": "M7"}}, "confirmed by mail"),
    ],
    ids=["value", "tool"],
)
@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_late_legal_review_is_stood_in_for_and_final_runs_with_its_status_recorded(
    pattern: str, fallback: dict[str, Any], law: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps(timeout=NAP, fallback=fallback)), *after_planning(pattern, "Go."))
    begin = time.monotonic()
    report, _ = run(pattern, tools(legal=late_legal), limits={"retries": 2})  # what is late is not tried again
    assert time.monotonic() - begin < 5
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {MONEY: "done", TECH: "done", LAW: "degraded", FINAL: "done"}
    late = results(report)[LAW]
    assert late["failure"]["cls"] == "timeout" and late["failure"]["kind"] == "tool"
    assert late["attempts"] == (1 if "value" in fallback else 2)
    assert results(report)[FINAL]["output"] == {"decision": "go", "legal": law}
    assert any(risk.startswith(f"step {LAW}") for risk in report["risks"])


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_late_review_does_not_hold_up_what_does_not_need_it(pattern: str, model_server: ModelServer) -> None:
    late = {"timeout": 3 * NAP, "fallback": {"value": {"status": "late"}}}
    model_server.reply(plan(*steps(**late)), *after_planning(pattern, "Go.", once=True))
    report, _ = run(pattern, tools(legal=late_legal))
    ran = results(report)
    assert ran[TECH]["ended"] < ran[LAW]["ended"] - NAP
    assert ran[FINAL]["started"] >= ran[LAW]["ended"]


@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_without_a_fallback_a_late_review_blocks_final_and_nothing_else(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps(timeout=NAP)))
    if pattern != "one_shot":
        model_server.reply(says("Legal did not answer in time."))
    report, _ = run(pattern, tools(legal=late_legal))
    assert report["stop"]["kind"] in ("failure", "budget")
    assert statuses(report) == {MONEY: "done", TECH: "done", LAW: "failed", FINAL: "blocked"}
    assert results(report)[LAW]["failure"]["cls"] == "timeout"


@pytest.mark.parametrize("review", [too_dear, refused])
@pytest.mark.parametrize("pattern", WHOLE_PLANS)
def test_a_finance_review_that_is_not_accepted_blocks_legal_and_final_but_not_technical(
    pattern: str, review: Callable[..., Any], model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()))
    if pattern != "one_shot":
        model_server.reply(says("Finance did not approve."))
    report, events = run(pattern, tools(finance=review))
    assert report["stop"]["kind"] in ("failure", "budget")
    assert statuses(report) == {MONEY: "failed", TECH: "done", LAW: "blocked", FINAL: "blocked"}
    failed = results(report)[MONEY]
    assert failed["failure"]["kind"] == "result" and failed["failure"]["cls"] == "acceptance"
    assert failed["output"] == asyncio.run(review("M7"))
    assert set(started(events)) == {MONEY, TECH}
    assert {line.split(" ")[0] for line in report["missing"]} == {MONEY, LAW, FINAL}
    assert report["checks"]["failed"] == 1


@pytest.mark.parametrize("pattern", TURNING)
def test_after_a_late_legal_review_the_next_turn_asks_by_mail_and_final_gets_that(
    pattern: str, model_server: ModelServer
) -> None:
    money, law, tech, last = in_order()
    mail = step("mail", "by_mail", item="M7")
    final_args = {**last["args"], "legal": "${steps.mail}"}
    asked = in_turns(money, law, mail, tech, {**last, "args": final_args})
    model_server.reply(*asked, *after_planning(pattern, "Go."))
    given = [*tools(), read(late_legal, name="legal", timeout=NAP)]
    report, _ = run(pattern, [given[0], *given[2:]])
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {MONEY: "done", LAW: "failed", "t3": "done", "t4": "done", "t5": "done"}
    assert results(report)[LAW]["failure"]["cls"] == "timeout"
    assert results(report)["t5"]["output"] == {"decision": "go", "legal": "confirmed by mail"}


@pytest.mark.parametrize(("review", "asked"), [(too_dear, 1), (refused, 1), (finance, 2)])
@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_that_sees_no_approval_gives_up_and_nobody_decides(
    pattern: str, review: Callable[..., Any], asked: int, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *in_order(), turns=asked), *gives_up(pattern, "It was not approved."))
    money, _, *others = tools(finance=review)
    report, events = run(pattern, [money, read(late_legal, name="legal", timeout=NAP), *others])
    assert report["stop"]["reason"] == "cannot_be_done" and started(events) == [MONEY, LAW][:asked]


@pytest.mark.parametrize("pattern", ACTING)
def test_one_slot_or_turns_make_the_reviews_run_one_by_one_in_the_same_order_of_need(
    pattern: str, model_server: ModelServer
) -> None:
    given = in_order() if pattern in TURNING else steps()
    model_server.reply(*all_well(pattern, "Go.", *given, once=True))
    report, _ = run(pattern, tools(), concurrency=1)
    assert report["stop"]["reason"] == "done"
    ran = sorted(report["results"], key=lambda result: result["started"])
    assert [result["step"] for result in ran] in (
        [MONEY, TECH, LAW, FINAL],
        [TECH, MONEY, LAW, FINAL],
        [MONEY, LAW, TECH, FINAL],
    )
    assert all(before["ended"] <= after["started"] for before, after in pairwise(ran))
