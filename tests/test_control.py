"""The executor, the limits and the call path, through a pattern with real tools and a scripted model."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import graphs
from state.stop import StopReason
from tests.support.plans import PLANNING, by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import ToolEnv, read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}


async def report_of(model: ScriptedModel, tools: list[Any], *, pattern: str = "one_shot", **context: Any) -> Any:
    settings = {"model": model, "tools": tools, **context}
    out = await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings)
    return out["report"]


class Clock:
    """Records when each call begins and ends."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str]] = []
        self.running = self.most = 0

    async def work(self, name: str, seconds: float = 0.0, after: Any = None) -> str:
        """Works for a while."""
        self.log.append(("start", name))
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(seconds)
        self.running -= 1
        self.log.append(("end", name))
        return name


async def test_a_step_starts_the_moment_its_own_inputs_are_there(scripted_model: ScriptedModel, home: Path) -> None:
    clock = Clock()
    scripted_model.reply(plan(
        step("slow", "work", {"name": "slow", "seconds": 0.3}),
        step("quick", "work", {"name": "quick"}),
        step("next", "work", {"name": "next", "after": "${steps.quick}"}),
    ))  # fmt: skip
    report = await report_of(scripted_model, [read(clock.work)])
    assert report["stop"]["reason"] == "done"
    assert clock.log.index(("end", "next")) < clock.log.index(("end", "slow"))


async def test_no_more_steps_run_at_once_than_the_concurrency_allows(scripted_model: ScriptedModel, home: Path) -> None:
    clock = Clock()
    scripted_model.reply(plan(*(step(f"s{n}", "work", {"name": str(n), "seconds": 0.02}) for n in range(9))))
    report = await report_of(scripted_model, [read(clock.work)], concurrency=2)
    assert report["stop"]["reason"] == "done"
    assert clock.most == 2


async def test_a_failed_step_blocks_only_what_depends_on_it(scripted_model: ScriptedModel, home: Path) -> None:
    def fail() -> str:
        """Fails."""
        raise LookupError("no such order")

    scripted_model.reply(plan(
        step("bad", "fail"), step("child", "work", {"name": "${steps.bad}"}),
        step("grandchild", "work", {"name": "${steps.child}"}), step("other", "work", {"name": "other"}),
    ))  # fmt: skip
    report = await report_of(scripted_model, [read(Clock().work), read(fail)])
    statuses = {name: result["status"] for name, result in by_step(report).items()}
    assert statuses == {"bad": "failed", "child": "blocked", "grandchild": "blocked", "other": "done"}
    assert report["stop"]["reason"] == "steps_failed"
    assert any("grandchild" in line for line in report["missing"])


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), StopIteration(), BaseException("x")])
async def test_a_tool_may_raise_anything_and_the_run_still_reports(
    scripted_model: ScriptedModel, home: Path, raised: BaseException
) -> None:
    def explode() -> str:
        """Raises."""
        raise raised

    async def explode_too() -> str:
        """Raises in the loop."""
        raise raised

    scripted_model.reply(plan(step("a", "explode"), step("b", "explode_too"), step("c", "work", {"name": "c"})))
    report = await report_of(scripted_model, [read(explode), read(explode_too), read(Clock().work)])
    statuses = {name: result["status"] for name, result in by_step(report).items()}
    assert statuses == {"a": "failed", "b": "failed", "c": "done"}
    assert type(raised).__name__ in by_step(report)["a"]["failure"]["message"]


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"tool_calls": 2}, "tool_calls"),
    ({"seconds": 0.15}, "seconds"),
    ({"failures": 1}, "failures"),
    ({"same_call": 1}, "same_call"),
    ({"tokens": 1}, "tokens"),
    ({"money": 0.000001}, "money"),
]


@pytest.mark.parametrize(("limits", "reason"), LIMITS, ids=[reason for _, reason in LIMITS])
async def test_each_limit_stops_inside_a_round_and_keeps_what_was_done(
    scripted_model: ScriptedModel, home: Path, limits: dict[str, Any], reason: str
) -> None:
    def fail() -> str:
        """Fails."""
        raise LookupError("gone")

    steps = [step("first", "work", {"name": "first"}), step("second", "work", {"name": "${steps.first}2"})]
    if reason == "failures":
        steps.append(step("bad", "fail", {}, after=["second"]))
    if reason == "same_call":
        steps.append(step("again", "work", {"name": "first"}, after=["second"]))
    steps.append(
        step("slow", "work", {"name": "slow", "seconds": 0.3 if reason == "seconds" else 0}, after=[steps[-1]["id"]])
    )
    steps.append(step("last", "work", {"name": "last"}, after=["slow"]))
    scripted_model.reply(plan(*steps))
    prices = {"scripted": {"tokens_in": 1.0, "tokens_out": 1.0}}
    report = await report_of(scripted_model, [read(Clock().work), read(fail)], limits=limits, prices=prices)
    assert report["stop"] | {"evidence": []} == {
        "kind": "budget", "reason": reason, "message": report["stop"]["message"], "evidence": [],
    }  # fmt: skip
    assert "last" in str(report["missing"])
    if reason not in ("tokens", "money"):
        assert by_step(report)["first"]["output"] == "first"
    assert report["answer"]


async def test_the_limit_of_steps_counts_over_all_plan_versions(scripted_model: ScriptedModel, home: Path) -> None:
    def fail() -> str:
        """Fails."""
        raise LookupError("gone")

    scripted_model.reply(plan(step("a", "work", {"name": "a"}), step("b", "fail")))
    longer = plan(*(step(f"n{n}", "work", {"name": str(n)}) for n in range(3)))
    scripted_model.reply(longer, longer, longer, "what there is")
    report = await report_of(
        scripted_model, [read(Clock().work), read(fail)], pattern="plan_and_execute", limits={"steps": 4}
    )
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("budget", "steps")
    assert len(report["plans"]) == 1
    assert by_step(report)["a"]["status"] == "done"


async def test_replans_end_at_their_limit_with_every_version_in_the_report(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def fail(n: int) -> str:
        """Fails."""
        raise LookupError(f"gone {n}")

    for number in range(3):
        scripted_model.reply(plan(step("a", "fail", {"n": number})))
    scripted_model.reply("nothing worked")
    report = await report_of(scripted_model, [read(fail)], pattern="plan_and_execute", limits={"failures": 9})
    assert report["stop"]["reason"] == "replans"
    assert [one["version"] for one in report["plans"]] == [1, 2, 3]
    assert [one["steps"][0]["id"] for one in report["plans"]] == ["a", "a_v2", "a_v3"]
    assert report["plans"][1]["change"] == {"kept": [], "changed": ["a_v2"], "added": [], "dropped": []}
    assert report["answer"] == "nothing worked"


async def test_iterations_end_at_their_limit(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(*(step(f"s{n}", "work", {"name": str(n)}) for n in range(5))), "partly")
    report = await report_of(
        scripted_model, [read(Clock().work)], pattern="plan_and_execute", check_after="step", limits={"iterations": 3}
    )
    assert report["stop"]["reason"] == "iterations"
    assert len(report["results"]) == 3


async def test_attempts_end_at_their_limit_and_the_task_is_never_rewritten(
    scripted_model: ScriptedModel, home: Path
) -> None:
    bad = {"checks": [], "completeness": 3, "accuracy": 8, "quality": 8, "accepted": False, "problems": ["too short"]}
    lesson = {"diagnosis": "one source only", "lesson": "use more sources", "change": "step"}
    for number in range(3):
        scripted_model.reply(plan(step(f"s{number}", "work", {"name": str(number)})), f"answer {number}", bad)
        if number < 2:
            scripted_model.reply(lesson)
    report = await report_of(scripted_model, [read(Clock().work)], pattern="self_reflection")
    assert (report["stop"]["reason"], report["answer"]) == ("attempts", "answer 2")
    assert len(report["reflections"]) == 2
    assert all(
        '<task>\n"do it"\n</task>' in str(request["messages"]).replace("\\n", "\n")
        for request in scripted_model.requests
    )


async def test_reflections_end_at_their_limit(scripted_model: ScriptedModel, home: Path) -> None:
    bad = {"checks": [], "completeness": 3, "accuracy": 8, "quality": 8, "accepted": False, "problems": ["too short"]}
    scripted_model.reply(plan(step("s", "work", {"name": "1"})), "answer", bad)
    report = await report_of(scripted_model, [read(Clock().work)], pattern="self_reflection", limits={"reflections": 0})
    assert report["stop"]["reason"] == "reflections"


async def test_the_limit_of_model_calls_still_leaves_an_answer(scripted_model: ScriptedModel, home: Path) -> None:
    scripted_model.reply(plan(step("a", "work", {"name": "found it"})))
    report = await report_of(
        scripted_model, [read(Clock().work)], pattern="plan_and_execute", limits={"model_calls": 1}
    )
    assert report["answer"] == "found it"
    assert report["answered_by"] == "code"


async def test_every_stop_reason_has_one_kind_and_one_exit_code() -> None:
    codes = [reason.exit_code for reason in StopReason if reason.kind != "success"]
    assert len(set(codes)) == len(codes)
    assert {reason.exit_code for reason in StopReason if reason.kind == "success"} == {0}
    assert {reason.kind for reason in StopReason} == {"success", "failure", "budget", "pause"}


async def test_two_equal_writes_of_one_plan_both_run_and_a_third_equal_one_in_a_replan_does_not(
    scripted_model: ScriptedModel, home: Path
) -> None:
    paid: list[int] = []

    def pay(amount: int) -> dict[str, int]:
        """Pays."""
        paid.append(amount)
        return {"paid": amount}

    def check(n: int) -> str:
        """Fails at first."""
        if n == 1:
            raise LookupError("gone")
        return "fine"

    scripted_model.reply(
        plan(step("a", "pay", {"amount": 5}), step("b", "pay", {"amount": 5}), step("c", "check", {"n": 1})),
        plan(step("d", "pay", {"amount": 5}), step("e", "check", {"n": 2})),
        "paid",
    )
    report = await report_of(scripted_model, [write(pay), read(check)], pattern="plan_and_execute", writes="allow")
    assert report["stop"]["reason"] == "done"
    assert paid == [5, 5]
    assert "not repeated" in by_step(report)["d"]["note"]


async def test_a_write_whose_tool_broke_is_unknown_and_is_never_tried_again(
    scripted_model: ScriptedModel, home: Path
) -> None:
    calls: list[int] = []

    def pay(amount: int) -> str:
        """Pays, then loses the connection."""
        calls.append(amount)
        raise ConnectionError("connection reset")

    scripted_model.reply(plan(step("a", "pay", {"amount": 5}), step("b", "pay", {"amount": 6}, after=["a"])))
    report = await report_of(scripted_model, [write(pay)], writes="allow")
    assert calls == [5]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "pending_reconcile")
    assert by_step(report)["a"]["status"] == "unknown"
    assert report["open_requests"][0]["kind"] == "reconcile"


async def test_a_read_that_may_pass_is_tried_again_and_one_that_will_not_is_not(
    scripted_model: ScriptedModel, home: Path
) -> None:
    calls: dict[str, int] = {"flaky": 0, "wrong": 0}

    def flaky() -> str:
        """Works at the second try."""
        calls["flaky"] += 1
        if calls["flaky"] == 1:
            raise ConnectionError("connection reset")
        return "fine"

    def wrong() -> str:
        """Never works."""
        calls["wrong"] += 1
        raise ValueError("bad value")

    scripted_model.reply(plan(step("a", "flaky"), step("b", "wrong")))
    report = await report_of(scripted_model, [read(flaky), read(wrong)])
    assert calls == {"flaky": 2, "wrong": 1}
    assert by_step(report)["a"]["attempts"] == 2


async def test_a_read_only_run_refuses_a_write_before_anything_runs(scripted_model: ScriptedModel, home: Path) -> None:
    def pay(amount: int) -> str:
        """Pays."""
        raise AssertionError("must not run")

    for _ in range(3):
        scripted_model.reply(plan(step("a", "pay", {"amount": 1})))
    report = await report_of(scripted_model, [write(pay)], writes="deny")
    assert report["stop"]["reason"] == "blocked"
    assert report["results"] == []
    assert "read-only" in report["stop"]["message"]


async def test_the_tool_call_gets_the_idempotency_key_of_its_write(scripted_model: ScriptedModel, home: Path) -> None:
    keys: list[str] = []

    def pay(amount: int, env: ToolEnv) -> str:
        """Pays."""
        keys.append(env.key)
        return "paid"

    scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("b", "pay", {"amount": 1})))
    await report_of(scripted_model, [write(pay)], writes="allow")
    assert len(set(keys)) == 2
    assert all(keys)


async def test_a_large_output_stays_whole_for_later_steps_and_short_in_state(
    scripted_model: ScriptedModel, home: Path
) -> None:
    seen: list[int] = []

    def big() -> str:
        """Gives much."""
        return "x" * 1_000_000

    def size(text: str) -> int:
        """Measures."""
        seen.append(len(text))
        return len(text)

    scripted_model.reply(plan(step("a", "big"), step("b", "size", {"text": "${steps.a}"})))
    report = await report_of(scripted_model, [read(big), read(size)], output_cap=1000)
    assert seen == [1_000_000]
    assert len(str(report)) < 20_000
    assert by_step(report)["a"]["artefact"]


async def test_a_second_request_on_a_thread_starts_with_fresh_counters_and_no_plan(
    scripted_model: ScriptedModel, home: Path
) -> None:
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver())
    settings = {"model": scripted_model, "tools": [read(Clock().work)], "limits": {"iterations": 1}}
    for number in range(3):
        scripted_model.reply(plan(step("a", "work", {"name": str(number)})), f"answer {number}")
        out = await graph.ainvoke({"task": f"task {number}"}, THREAD, context=settings)
        assert out["report"]["stop"]["reason"] == "done"
        assert out["report"]["answer"] == f"answer {number}"
        assert out["report"]["counts"]["iterations"] == 1
        assert len(out["report"]["plans"]) == 1


async def test_the_limits_of_a_waiting_run_survive_a_resume_with_another_context(
    scripted_model: ScriptedModel, home: Path
) -> None:
    from langgraph.types import Command

    def pay(amount: int) -> str:
        """Pays."""
        return "paid"

    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("b", "work", {"name": "b"}, after=["a"])))
    tools = [write(pay), read(Clock().work)]
    out = await graph.ainvoke(
        {"task": "pay"}, THREAD, context={"model": scripted_model, "tools": tools, "limits": {"tool_calls": 1}}
    )
    answer = {one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answer), THREAD, context={"model": scripted_model, "tools": tools})
    assert out["report"]["stop"]["reason"] == "tool_calls"
    assert by_step(out["report"])["a"]["status"] == "done"


@pytest.mark.parametrize("pattern", PLANNING)
async def test_a_model_that_goes_down_after_planning_still_leaves_the_results(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    scripted_model.reply(plan(step("E1", "work", {"name": "found it"})))
    for _ in replies_after_plan(pattern):
        scripted_model.reply(ConnectionError("connection refused"))
    report = await report_of(scripted_model, [read(Clock().work)], pattern=pattern, limits={"retries": 0})
    assert "found it" in report["answer"]
    assert report["stop"]["kind"] in ("success", "failure")


async def test_time_is_counted_as_work_and_not_as_waiting_for_a_person(
    scripted_model: ScriptedModel, home: Path
) -> None:
    from langgraph.types import Command

    def pay(amount: int) -> str:
        """Pays."""
        return "paid"

    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    settings = {"model": scripted_model, "tools": [write(pay)], "limits": {"seconds": 0.4}}
    scripted_model.reply(plan(step("a", "pay", {"amount": 1})))
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=settings)
    await asyncio.sleep(0.5)
    answer = {one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]}
    began = time.monotonic()
    out = await graph.ainvoke(Command(resume=answer), THREAD, context=settings)
    assert out["report"]["stop"]["reason"] == "done"
    assert out["report"]["usage"]["seconds"] < 0.4 + time.monotonic() - began


async def test_steps_that_change_something_run_in_the_order_of_the_plan(
    scripted_model: ScriptedModel, home: Path
) -> None:
    log: list[str] = []

    async def copy(name: str, seconds: float = 0.0) -> str:
        """Copies."""
        await asyncio.sleep(seconds)
        log.append(f"copy {name}")
        return name

    async def pack(name: str) -> str:
        """Packs."""
        log.append(f"pack {name}")
        return name

    scripted_model.reply(plan(
        step("a", "copy", {"name": "x", "seconds": 0.05}),
        step("b", "pack", {"name": "x"}),
        step("c", "copy", {"name": "y"}),
    ))  # fmt: skip
    report = await report_of(scripted_model, [write(copy), write(pack)], writes="allow")
    assert report["stop"]["reason"] == "done"
    assert log == ["copy x", "pack x", "copy y"]


async def test_a_fallback_that_waits_for_approval_does_not_run_its_step_again_when_it_is_approved(
    scripted_model: ScriptedModel, home: Path
) -> None:
    from langgraph.types import Command

    log: list[str] = []

    def look(name: str) -> str:
        """Fails."""
        log.append("look")
        raise LookupError("gone")

    def notify(text: str) -> str:
        """Tells a person."""
        log.append("notify")
        return "told"

    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    fallback = {"tool": "notify", "args": {"text": "it is gone"}}
    scripted_model.reply(plan(step("a", "look", {"name": "x"}, on_failure="fallback", fallback=fallback)))
    settings = {"model": scripted_model, "tools": [read(look), write(notify)]}
    out = await graph.ainvoke({"task": "look"}, THREAD, context=settings)
    answers = {ask.id: {"decisions": [{"type": "approve"}]} for ask in out["__interrupt__"]}
    out = await graph.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert log == ["look", "notify"]
    assert out["report"]["stop"]["reason"] == "done"
    assert "gone" in by_step(out["report"])["a"]["note"]


async def test_the_last_call_of_a_model_is_kept_for_the_answer(scripted_model: ScriptedModel, home: Path) -> None:
    def fail(n: int) -> str:
        """Fails."""
        raise LookupError(f"gone {n}")

    scripted_model.reply(plan(step("a", "fail", {"n": 1})), plan(step("b", "fail", {"n": 2})), "nothing was found")
    report = await report_of(
        scripted_model, [read(fail)], pattern="plan_and_execute", limits={"model_calls": 3, "replans": 5, "failures": 9}
    )
    assert report["stop"]["reason"] == "model_calls"
    assert (report["answer"], report["answered_by"]) == ("nothing was found", "model")
    assert report["usage"]["model_calls"] == 3
