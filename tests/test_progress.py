"""No progress, found by code: a plan that was there before, a version that gave nothing new; and what may pass."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import graphs
from nodes.drafting import content, new_steps, next_plan
from nodes.failures import pause_after
from nodes.meter import Meter
from nodes.progress import back_off
from nodes.records import blank
from nodes.run import Run
from state.context import make_context
from state.errors import BudgetSpent, ToolFailed
from state.plan import PlanDraft
from state.result import FailureClass, failure
from state.usage import no_usage
from tests.support.plans import GOOD_GRADE, plan, step
from tests.support.scripted_model import ScriptedModel
from tools.catalogue import Catalogue
from tools.tool import read, write

BAD_GRADE = GOOD_GRADE | {"completeness": 3, "accepted": False, "problems": ["too short"]}
LESSON = {"diagnosis": "one source only", "lesson": "use more sources", "change": "step"}


class Service:
    """Looks up what it knows; `down` is how often it fails before it answers, and how."""

    def __init__(self, down: int = 0, cls: FailureClass = "transient") -> None:
        self.down, self.cls, self.calls = down, cls, list[str]()

    def look_up(self, name: str) -> str:
        """Looks a name up."""
        self.calls.append(name)
        if len(self.calls) <= self.down:
            raise ToolFailed("service unavailable", self.cls)
        return "nothing known"

    def find(self, name: str) -> list[str]:
        """Finds nothing."""
        self.calls.append(name)
        return []


def fail(n: int) -> str:
    """Fails, each number in its own way."""
    raise LookupError(f"gone {n}")


async def out_of(model: ScriptedModel, tools: list[Any], pattern: str = "plan_and_execute", **context: Any) -> Any:
    settings = {"model": model, "tools": tools, "limits": {"failures": 9, "retries": 0}, **context}
    return await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings)


async def test_a_plan_equal_to_any_earlier_version_ends_the_run(scripted_model: ScriptedModel, home: Path) -> None:
    for number in (1, 2, 1):
        scripted_model.reply(plan(step(f"s{number}", "fail", {"n": number})))
    scripted_model.reply("nothing worked")
    out = await out_of(scripted_model, [read(fail)])
    assert out["report"]["stop"] == {
        "kind": "failure", "reason": "no_progress",
        "message": "no new evidence: the new plan does what version 1 did; nothing would change",
        "evidence": ["plan 1", "s1_v3"],
    }  # fmt: skip
    assert len(out["report"]["plans"]) == 2


async def test_a_plan_equal_to_the_last_one_ends_the_run(scripted_model: ScriptedModel, home: Path) -> None:
    service = Service(down=9, cls="auth")
    same = plan(step("a", "look_up", {"name": "x"}), step("b", "look_up", {"name": "${steps.a}"}))
    other_ids = plan(step("c", "look_up", {"name": "x"}), step("d", "look_up", {"name": "${steps.c}"}))
    scripted_model.reply(same, other_ids, "nothing worked")
    out = await out_of(scripted_model, [read(service.look_up)])
    assert (
        out["report"]["stop"]["message"]
        == "no new evidence: the new plan does what the last one did; nothing would change"
    )


async def test_a_version_in_which_nothing_new_came_out_ends_the_run(scripted_model: ScriptedModel, home: Path) -> None:
    service = Service()
    tools = [read(service.look_up), read(fail)]
    scripted_model.reply(
        plan(step("a", "look_up", {"name": "x"}), step("b", "fail", {"n": 1}, after=["a"])),
        plan(step("c", "look_up", {"name": "x"}), step("d", "fail", {"n": 1})),
        "nothing worked",
    )
    out = await out_of(scripted_model, tools)
    assert out["report"]["stop"] == {
        "kind": "failure", "reason": "no_progress", "evidence": ["c: as a", "d: as b"],
        "message": "version 2 of the plan gave nothing that had not been there: c: as a, d: as b",
    }  # fmt: skip


@pytest.mark.parametrize(
    "second",
    [
        plan(step("c", "look_up", {"name": "x"}), step("d", "fail", {"n": 2})),
        plan(step("c", "find", {"name": "y"}), step("d", "fail", {"n": 1})),
        plan(step("c", "note", {"text": "x"}), step("d", "fail", {"n": 1})),
    ],
    ids=["another failure", "nothing found elsewhere", "a write"],
)
async def test_another_failure_an_empty_answer_and_a_write_are_news(
    scripted_model: ScriptedModel, home: Path, second: Any
) -> None:
    def note(text: str) -> str:
        """Notes."""
        return "nothing known"

    service = Service()
    tools = [read(service.look_up), read(service.find), read(fail), write(note)]
    scripted_model.reply(plan(
        step("a", "look_up", {"name": "x"}), step("e", "find", {"name": "x"}), step("b", "fail", {"n": 1}, after=["a"]),
    ))  # fmt: skip
    scripted_model.reply(second, plan(step("f", "look_up", {"name": "z"})), "the answer")
    out = await out_of(scripted_model, tools, writes="allow")
    assert out["report"]["stop"]["reason"] == "done"
    assert len(out["report"]["plans"]) == 3


async def test_an_attempt_that_gave_nothing_new_is_not_followed_by_another(
    scripted_model: ScriptedModel, home: Path
) -> None:
    service = Service()
    scripted_model.reply(plan(step("a", "look_up", {"name": "x"})), "short", BAD_GRADE, LESSON)
    scripted_model.reply(plan(step("b", "look_up", {"name": "y"})), "short", BAD_GRADE)
    out = await out_of(scripted_model, [read(service.look_up)], "self_reflection")
    assert (out["report"]["stop"]["reason"], out["report"]["stop"]["evidence"]) == ("no_progress", ["b: as a"])


@pytest.mark.parametrize("cls", ["transient", "rate_limit", "timeout"])
async def test_the_same_plan_is_tried_again_after_a_pause_where_the_failure_may_pass(
    scripted_model: ScriptedModel, home: Path, cls: FailureClass
) -> None:
    service = Service(down=2, cls=cls)
    for _ in range(3):
        scripted_model.reply(plan(step("a", "look_up", {"name": "x"})))
    scripted_model.reply("nothing known")
    out = await out_of(scripted_model, [read(service.look_up)])
    assert out["report"]["stop"]["reason"] == "done"
    assert [result["status"] for result in out["report"]["results"]] == ["failed", "failed", "done"]
    waits = [event["reason"] for event in out["events"] if event["event"] == "back_off"]
    assert waits == [
        f"look_up failed ({cls}), which may pass: plan 1 is tried again after 0.4 s",
        f"look_up failed ({cls}), which may pass: plan 2 is tried again after 0.8 s",
    ]


async def test_what_does_not_pass_ends_at_the_limit_of_replans_which_is_named(
    scripted_model: ScriptedModel, home: Path
) -> None:
    service = Service(down=9)
    for _ in range(2):
        scripted_model.reply(plan(step("a", "look_up", {"name": "x"})))
    scripted_model.reply("nothing worked")
    out = await out_of(scripted_model, [read(service.look_up)], limits={"replans": 1, "retries": 0})
    assert out["report"]["stop"]["reason"] == "replans"
    assert "service unavailable" in out["report"]["stop"]["message"]


async def test_a_failure_that_will_not_pass_is_not_tried_again(scripted_model: ScriptedModel, home: Path) -> None:
    service = Service(down=9, cls="auth")
    for _ in range(2):
        scripted_model.reply(plan(step("a", "look_up", {"name": "x"})))
    scripted_model.reply("nothing worked")
    out = await out_of(scripted_model, [read(service.look_up)])
    assert out["report"]["stop"]["reason"] == "no_progress"
    assert service.calls == ["x"]


async def test_the_pause_does_not_reach_beyond_the_limit_of_seconds() -> None:
    steps = new_steps(PlanDraft.model_validate(plan(step("a", "look_up", {"name": "x"}))), 1, {}, Catalogue())
    before = next_plan(None, steps, {}, goal="", constraints=[], reason="", by="planner")
    failed: Any = {
        **blank(steps[0]), "status": "failed", "failure": failure("timeout", "late"), "call": "c", "attempts": 20,
    }  # fmt: skip
    context = make_context(limits={"seconds": 0.1})
    request: Any = {"id": "x", "pattern": "plan_and_execute"}
    run = Run(request, context, Meter(no_usage(), context.limits), Catalogue(), lambda _: None)
    with pytest.raises(BudgetSpent, match="limit seconds reached"):
        await asyncio.wait_for(back_off(steps, [before], {"a": failed}, run), 9)
    assert [event["event"] for event in run.events] == ["back_off"]


def test_the_pause_grows_and_has_an_end() -> None:
    assert [pause_after(tries) for tries in (1, 2, 3, 9, 10_000)] == [0.4, 0.8, 1.6, 10.0, 10.0]


def test_plans_with_other_ids_everywhere_are_the_same_plan() -> None:
    def draft(first: str, second: str) -> PlanDraft:
        last = step(
            second, "fail", {"n": f"${{steps.{first}}}"}, rests_on=[first], after=[first], when=f"steps.{first} > 0",
            fallback={"tool": "fail", "args": {"n": f"${{steps.{first}}}"}},
        )  # fmt: skip
        return PlanDraft.model_validate(plan(step(first, "fail", {"n": 1}), last))

    one, two = (content(new_steps(draft(*ids), 1, {}, Catalogue())) for ids in (("a", "b"), ("c", "d")))
    assert one == two


@pytest.mark.parametrize("pattern", ["plan_and_execute", "self_reflection"])
async def test_what_builds_on_a_step_that_is_written_anew_runs_again_and_a_write_that_stays_the_same_does_not(
    pattern: str, scripted_model: ScriptedModel, home: Path
) -> None:
    ran: list[str] = []

    def double(text: str) -> str:
        """Gives the text twice."""
        ran.append(text)
        return text * 2

    def note(text: str) -> str:
        """Writes the text down."""
        ran.append(f"note {text}")
        return "noted"

    def steps(first: str, last: str) -> list[dict[str, Any]]:
        calls = [("a", first), ("b", "${steps.a}"), ("c", "same"), ("d", "${steps.c}")]
        return [*(step(name, "double", {"text": text}) for name, text in calls), step("e", "note", {"text": "kept"}),
                step("f", last, {"n": 1})]  # fmt: skip

    scripted_model.reply(plan(*steps("wrong", "fail")))
    if pattern == "self_reflection":
        scripted_model.reply(LESSON)
    scripted_model.reply(plan(*steps("right", "look")))
    if pattern == "self_reflection":
        scripted_model.reply("done", GOOD_GRADE)
    else:
        scripted_model.reply("done")

    def look(n: int) -> int:
        """Looks."""
        return n

    tools = [read(double), write(note), read(fail), read(look)]
    report = (await out_of(scripted_model, tools, pattern, writes="allow"))["report"]
    outputs = {one["step"]: one["output"] for one in report["results"]}
    assert report["stop"]["reason"] == "done"
    assert (outputs["b_v2"], outputs["d"]) == ("rightrightrightright", "samesamesamesame")
    assert sorted(ran) == sorted(["wrong", "wrongwrong", "same", "samesame", "note kept", "right", "rightright"])
