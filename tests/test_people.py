"""People: a plan is agreed to, what is missing is asked, a word stands for a write; in every pattern."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

import graphs
from state.errors import InputError, ToolFailed
from tests.support.plans import PLANNING, by_step, plan, replies_after_plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import read, write

THREAD: Any = {"configurable": {"thread_id": "t"}}
PATTERNS = PLANNING
SAVERS = ("memory", "sqlite")
each_pattern = pytest.mark.parametrize("pattern", PATTERNS)


class Shop:
    """Tools with a trace of what they did."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def tools(self) -> list[Any]:
        return [read(self.look), read(self.balance), read(self.guess), write(self.pay)]

    def look(self, name: str) -> str:
        """Looks something up."""
        self.log.append(f"look {name}")
        return f"{name}!"

    def balance(self, account: str = "", year: int = 2026) -> float:
        """Gives the balance of an account."""
        self.log.append(f"balance {account} {year}")
        if not account.strip():
            raise ToolFailed("which account?", "missing_input", argument="account")
        if account == "closed":
            raise ToolFailed("in which year was it closed?", "missing_input", argument="year")
        return 7.5

    def guess(self, of: str) -> dict[str, float]:
        """Guesses."""
        self.log.append(f"guess {of}")
        if of == "nothing":
            raise LookupError("no idea")
        return {"confidence": 0.4}

    def pay(self, amount: int) -> dict[str, int]:
        """Pays."""
        self.log.append(f"pay {amount}")
        return {"paid": amount}


@asynccontextmanager
async def saver(kind: str, folder: Path) -> AsyncIterator[Any]:
    if kind == "memory":
        yield InMemorySaver()
        return
    async with AsyncSqliteSaver.from_conn_string(str(folder / "runs.db")) as found:
        yield found


class Case:
    """One thread of one pattern."""

    def __init__(self, model: ScriptedModel, pattern: str = "one_shot", kept: Any = None, **settings: Any) -> None:
        self.shop, self.model, self.pattern = Shop(), model, pattern
        self.graph = graphs.load(pattern, checkpointer=kept or InMemorySaver())
        self.settings = {"model": model, "tools": self.shop.tools(), "limits": {"retries": 0}, **settings}

    async def start(self, *replies: Any, **given: Any) -> list[Any]:
        self.model.reply(*replies)
        return await self._go({"task": "do it", **given})

    async def answer(self, *decisions: dict[str, Any], **settings: Any) -> list[Any]:
        """Answers what is open, in order; fewer decisions leave the rest open."""
        state = await self.graph.aget_state(THREAD)
        found = {one.id: {"decisions": [said]} for one, said in zip(state.interrupts, decisions, strict=False)}
        self.settings |= settings
        return await self._go(Command(resume=found))

    async def _go(self, given: Any) -> list[Any]:
        self.out = await self.graph.ainvoke(given, THREAD, context=self.settings)
        return list(self.out.get("__interrupt__", []))

    @property
    def report(self) -> Any:
        return self.out["report"]

    @property
    def stop(self) -> str:
        return str(self.report["stop"]["reason"])

    def finish(self) -> None:
        """What the model says when the plan has run."""
        self.model.reply(*replies_after_plan(self.pattern))


def value(interrupts: list[Any]) -> dict[str, Any]:
    """The one request that is open."""
    [one] = interrupts
    shown: dict[str, Any] = one.value
    fault = Draft202012Validator.check_schema(one.response_schema)
    assert fault is None and one.response_schema["required"] == ["decisions"]
    return shown


APPROVE: dict[str, Any] = {"type": "approve"}


def respond(message: Any) -> dict[str, Any]:
    return {"type": "respond", "message": message}


def edit(**args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"args": args}}


PLAN = plan(step("a", "look", {"name": "x"}), step("b", "pay", {"amount": 5}, after=["a"]))
READS = plan(step("a", "look", {"name": "x"}))


# ---- agreeing to a plan


@each_pattern
@pytest.mark.parametrize("kind", SAVERS)
async def test_nothing_of_a_plan_runs_before_a_person_has_agreed_to_it(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path, pattern: str, kind: str
) -> None:
    async with saver(kind, tmp_path) as kept:
        case = Case(scripted_model, pattern, kept, approve_plan="always", writes="allow")
        asked = value(await case.start(PLAN))
        assert (asked["kind"], case.shop.log, case.stop) == ("plan", [], "needs_approval")
        shown = asked["action_requests"][0]["args"]
        assert [one["id"] for one in shown["steps"]] == ["a", "b"] and shown["writes"] == ['b: pay {"amount":5}']
        assert case.report["open_requests"] == [asked]
        case.finish()
        assert await case.answer(APPROVE) == []
        assert (case.stop, case.shop.log) == ("done", ["look x", "pay 5"])
        assert case.report["people"] == ["plan 1: approved by a person (plan)"]


@each_pattern
async def test_only_a_plan_that_writes_is_asked_where_the_setting_says_so(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="writes", writes="allow")
    assert await case.start(READS, *replies_after_plan(pattern)) == []
    assert case.stop == "done"
    assert value(await case.start(PLAN))["kind"] == "plan"


@each_pattern
async def test_a_rejected_plan_ends_the_run_with_its_report(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always")
    await case.start(PLAN)
    assert await case.answer({"type": "reject", "message": "not today"}) == []
    assert (case.stop, case.report["stop"]["message"], case.shop.log) == ("rejected", "not today", [])
    assert case.report["people"] == ["plan 1: rejected by a person: not today (plan)"] and case.report["answer"]


@each_pattern
async def test_an_edited_plan_is_a_version_by_a_person_that_runs_as_it_was_edited(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always", writes="allow")
    shown = value(await case.start(PLAN))["action_requests"][0]["args"]
    first, second = shown["steps"]
    case.finish()
    edited = {
        **shown,
        "steps": [first, {**second, "args": {"amount": 6}}, step("c", "look", {"name": "y"}, after=["b"])],
    }
    assert await case.answer(edit(**edited)) == []
    assert (case.stop, case.shop.log) == ("done", ["look x", "pay 6", "look y"])
    one, two = case.report["plans"]
    assert (one["by"], two["by"], two["version"]) == ("planner", "person", 2)
    assert two["change"] == {"kept": ["a"], "changed": ["b"], "added": ["c"], "dropped": []}


@each_pattern
async def test_what_is_wrong_with_an_edited_plan_is_told_back_and_the_run_is_not_lost(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always")
    await case.start(READS)
    for wrong, said in (
        ([step("a", "fly", {})], "there is no tool 'fly'"),
        ([step("a", "look", {})], "missing argument"),
        ([{"id": "a"}], "steps.0.tool"),
        ([], "the plan has no steps"),
        ("a", "steps"),
    ):
        asked = value(await case.answer(edit(steps=wrong)))
        assert said in asked["problem"] and asked["kind"] == "plan"
    assert "message" in value(await case.answer({"type": "respond"}))["problem"]
    assert "can't be read" in value(await case.answer({"type": "perhaps"}))["problem"]
    case.finish()
    await case.answer(APPROVE)
    assert (case.stop, case.shop.log) == ("done", ["look x"])


@each_pattern
async def test_a_persons_words_go_back_to_the_planner_whose_next_version_is_asked_again(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always", writes="allow")
    first = value(await case.start(PLAN))
    case.model.reply(plan(step("a", "look", {"name": "x"}), step("b", "pay", {"amount": 4}, after=["a"])))
    second = value(await case.answer(respond("5 is too much")))
    shown = second["action_requests"][0]["args"]
    assert second["id"] != first["id"] and shown["version"] == 2 and shown["change"]["changed"] == ["b"]
    assert shown["reason"] == "a person said: 5 is too much"
    told = str(case.model.requests[-1]["messages"])
    assert "5 is too much" in told and "your_last_plan" in told
    case.finish()
    await case.answer(APPROVE)
    assert (case.stop, case.shop.log) == ("done", ["look x", "pay 4"])
    assert case.report["counts"]["replans"] == 1


@each_pattern
async def test_words_about_a_plan_are_taken_only_while_it_may_be_planned_again(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always", limits={"replans": 1})
    assert "respond" in value(await case.start(READS))["review_configs"][0]["allowed_decisions"]
    case.model.reply(plan(step("a", "look", {"name": "y"})))
    asked = value(await case.answer(respond("another")))
    assert "respond" not in asked["review_configs"][0]["allowed_decisions"]
    assert "respond" in value(await case.answer(respond("another")))["problem"]


@each_pattern
async def test_the_same_plan_again_after_a_persons_words_is_no_progress(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, approve_plan="always")
    await case.start(READS)
    case.model.reply(READS)
    assert await case.answer(respond("do better")) == []
    assert (case.stop, case.shop.log) == ("no_progress", [])


@each_pattern
async def test_a_run_that_cannot_wait_ends_before_an_unapproved_plan_and_says_how_to_go_on(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    shop = Shop()
    scripted_model.reply(PLAN)
    settings = {"model": scripted_model, "tools": shop.tools(), "approve_plan": "writes"}
    report = (await graphs.load(pattern).ainvoke({"task": "do it"}, context=settings))["report"]
    assert (report["stop"]["reason"], shop.log) == ("needs_approval", [])
    assert "checkpointer" in report["stop"]["message"] and "approve_plan='never'" in report["stop"]["message"]
    assert [one["kind"] for one in report["open_requests"]] == ["plan"]


async def test_a_replan_shows_its_difference_and_finished_steps_stay_finished(
    scripted_model: ScriptedModel, home: Path
) -> None:
    case = Case(scripted_model, "plan_and_execute", approve_plan="writes", writes="allow")
    again = plan(step("b", "guess", {"of": "all"}), step("p", "pay", {"amount": 1}, after=["b"]))
    asked = value(
        await case.start(plan(step("a", "look", {"name": "x"}), step("b", "guess", {"of": "nothing"})), again)
    )
    shown = asked["action_requests"][0]["args"]
    assert (shown["version"], shown["finished"]) == (2, ["a"])
    assert shown["change"] == {"kept": ["a"], "changed": ["b_v2"], "added": ["p"], "dropped": []}
    assert "no idea" in shown["reason"] and sorted(case.shop.log) == ["guess nothing", "look x"]
    case.finish()
    await case.answer(edit(steps=[step("p", "pay", {"amount": 2})]))
    assert (case.stop, case.shop.log[2:]) == ("done", ["pay 2"])
    assert [one["by"] for one in case.report["plans"]] == ["planner", "planner", "person"]


async def test_a_resume_may_ask_for_more_approval_and_never_for_less(scripted_model: ScriptedModel, home: Path) -> None:
    case = Case(scripted_model, approve_plan="always", writes="allow")
    await case.start(plan(step("a", "look", {"name": "x"}), step("b", "look", {"name": "y"})))
    assert "problem" in value(await case.answer(respond(""), approve_plan="never"))
    case = Case(scripted_model)
    assert value(await case.start(PLAN))["kind"] == "approval"
    asked = value(await case.answer(APPROVE, approve_plan="always"))
    assert (asked["kind"], case.shop.log) == ("plan", ["look x"])
    assert [one["id"] for one in asked["action_requests"][0]["args"]["steps"]] == ["b"]
    await case.answer(APPROVE)
    assert (case.stop, case.shop.log) == ("done", ["look x", "pay 5"])


async def test_untrusted_data_in_a_write_is_said_with_the_plan(scripted_model: ScriptedModel, home: Path) -> None:
    def post(name: str) -> str:
        """Reads a page."""
        return name

    case = Case(scripted_model, approve_plan="always")
    case.settings["tools"] = [read(post, untrusted=True), write(case.shop.pay)]
    steps = step("a", "post", {"name": "x"}), step("b", "pay", {"amount": "${steps.a.n}"})
    case.settings["tools"][0] = read(post, untrusted=True, output_schema=None)
    asked = value(await case.start(plan(*steps)))
    assert "untrusted data flows into amount" in asked["action_requests"][0]["args"]["untrusted"]["b"]
    assert "Careful, step b" in asked["action_requests"][0]["description"]


# ---- what is missing


@each_pattern
@pytest.mark.parametrize("kind", SAVERS)
async def test_a_missing_argument_is_asked_and_the_step_goes_on_with_the_answer(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path, pattern: str, kind: str
) -> None:
    async with saver(kind, tmp_path) as kept:
        case = Case(scripted_model, pattern, kept)
        asked = value(await case.start(plan(step("a", "balance", {}), step("b", "look", {"name": "x"}))))
        assert (asked["kind"], asked["argument"], case.stop) == ("question", "account", "needs_input")
        assert asked["answer_schema"]["type"] == "string" and "which account?" in case.report["stop"]["message"]
        case.finish()
        assert await case.answer(respond("A-17")) == []
        assert (case.stop, by_step(case.report)["a"]["output"]) == ("done", 7.5)
        assert sorted(case.shop.log) == ["balance  2026", "balance A-17 2026", "look x"]
        assert by_step(case.report)["a"]["args"] == {"account": "A-17"}
        assert case.report["people"] == ['step a (balance): account = "A-17" comes from a person']


@each_pattern
async def test_an_answer_that_does_not_fit_the_argument_is_asked_again_with_what_was_wrong(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern)
    asked = value(await case.start(plan(step("a", "balance", {"account": "closed"}))))
    assert asked["answer_schema"]["type"] == "integer"
    case.settings["tools"] = case.shop.tools()
    assert "does not fit" in value(await case.answer(respond("last year")))["problem"]
    asked = value(await case.answer(respond("2024")))  # read as a number, and the same account is still closed
    assert asked["action_requests"][0]["args"] == {"account": "closed", "year": 2024}
    case.finish()
    await case.answer(edit(account="A-17"))
    assert (case.stop, case.shop.log[-1]) == ("done", "balance A-17 2026")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (edit(amount="five"), "is not of type 'integer'"),
        (edit(), "missing argument: 'amount'"),
        (edit(amount=500), "max_amount = 100"),
        ({"type": "edit", "args": None}, "args is missing; right would be"),
    ],
)
async def test_an_edit_that_the_call_could_not_run_with_is_asked_again_with_the_reason(
    scripted_model: ScriptedModel, home: Path, changed: dict[str, Any], told: str
) -> None:
    case = Case(scripted_model)
    await case.start(plan(step("p", "pay", {"amount": 5})), constraints={"max_amount": 100})
    assert told in value(await case.answer(changed))["problem"]
    await case.answer({**edit(amount=7), "by": "a rule"})
    assert (case.stop, case.shop.log) == ("done", ["pay 7"])
    assert case.report["people"] == ['step p (pay): the arguments come from a rule: {"amount":7}']


async def test_a_value_that_a_constraint_forbids_is_asked_again_too(scripted_model: ScriptedModel, home: Path) -> None:
    case = Case(scripted_model)
    await case.start(plan(step("a", "balance", {"account": "closed"})), constraints={"min_year": 2000})
    assert "min_year = 2000" in value(await case.answer(respond("1990")))["problem"]
    await case.answer(edit(account="A-17", year=2024))
    assert (case.stop, case.shop.log[-1]) == ("done", "balance A-17 2024")


@each_pattern
@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (respond({"confidence": 0.9}), "done"),
        (edit(of="all"), "done"),
        (APPROVE, "asked"),
        ({"type": "reject"}, "left"),
    ],
)
async def test_a_step_that_says_ask_takes_a_result_other_arguments_another_try_or_is_left(
    scripted_model: ScriptedModel, home: Path, pattern: str, said: dict[str, Any], outcome: str
) -> None:
    case = Case(scripted_model, pattern, limits={"retries": 0, "replans": 0, "attempts": 1})
    first = value(await case.start(plan(step("a", "guess", {"of": "nothing"}, on_failure="ask"))))
    assert "no idea" in first["action_requests"][0]["description"]
    if outcome == "done" or (outcome == "left" and pattern != "one_shot"):
        case.model.reply(*replies_after_plan(pattern)[: None if outcome == "done" else 1])
    again = await case.answer(said)
    if outcome == "asked":
        assert value(again)["id"] != first["id"] and case.shop.log == ["guess nothing"] * 2
        return
    assert again == [] and case.shop.log.count("guess nothing") == 1
    assert (case.stop == "done") == (outcome == "done")
    if outcome == "left":
        assert "a person left it" in str(by_step(case.report)["a"]["failure"]) and case.stop != "needs_input"


@each_pattern
async def test_a_result_that_was_not_accepted_may_be_taken_as_it_is_and_does_not_run_again(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern)
    sure = step("a", "guess", {"of": "all"}, on_failure="ask", accept=["confidence >= 0.8"])
    asked = value(await case.start(plan(sure, step("b", "look", {"name": "x"}, after=["a"]))))
    assert "0.4" in asked["action_requests"][0]["description"] and case.report["stop"]["reason"] == "needs_input"
    case.finish()
    await case.answer(APPROVE)
    assert (case.stop, case.shop.log) == ("done", ["guess all", "look x"])
    [check] = by_step(case.report)["a"]["checks"]
    assert (check["outcome"], check["by"]) == ("passed", "person")


@each_pattern
async def test_a_result_that_a_model_refused_is_asked_about_as_well(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern)
    judged = step("a", "guess", {"of": "all"}, on_failure="ask", criteria=["it is sure"])
    no = {"checks": [{"criterion": "it is sure", "outcome": "failed", "evidence": "0.4"}]}
    asked = value(await case.start(plan(judged, step("b", "look", {"name": "${steps.a.confidence} x"})), no))
    assert "it is sure" in asked["action_requests"][0]["description"]
    case.finish()
    await case.answer(respond({"confidence": 0.9}))
    assert (case.stop, case.shop.log) == ("done", ["guess all", "look 0.4 x", "look 0.9 x"])
    assert by_step(case.report)["a"]["output"] == {"confidence": 0.9}


async def test_the_same_question_is_not_asked_twice_in_a_later_version(
    scripted_model: ScriptedModel, home: Path
) -> None:
    case = Case(scripted_model, "plan_and_execute")
    await case.start(plan(step("a", "balance", {}), step("b", "guess", {"of": "nothing"}, after=["a"])))
    again = plan(step("c", "balance", {}), step("d", "look", {"name": "${steps.c} euro"}))
    case.model.reply(again)
    case.finish()
    assert await case.answer(respond("A-17")) == []
    assert (case.stop, case.shop.log.count("balance  2026"), case.shop.log[-1]) == ("done", 1, "look 7.5 euro")


async def test_questions_end_at_their_limit(scripted_model: ScriptedModel, home: Path) -> None:
    case = Case(scripted_model, limits={"questions": 2})
    await case.start(plan(step("a", "balance", {})))
    await case.answer(APPROVE)
    assert await case.answer(APPROVE) == []
    assert (case.stop, case.shop.log) == ("questions", ["balance  2026"] * 3)
    none = Case(scripted_model, limits={"questions": 0})
    assert await none.start(plan(step("a", "balance", {}))) == []
    assert none.stop == "needs_input"


@each_pattern
async def test_each_part_of_a_map_step_asks_its_own_question_and_they_may_be_answered_over_several_calls(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern)
    parts = step("a", "balance", {"account": "${steps.item.account}", "year": "${steps.item.year}"})
    given = [{"account": "", "year": 1}, {"account": "B", "year": 2}, {"account": "", "year": 3}]
    mapped = {**parts, "each": "${steps.inputs.all}"}
    asked = await case.start(plan(mapped, step("p", "pay", {"amount": 1})), inputs={"all": given})
    assert [one.value["kind"] for one in asked] == ["question", "question", "approval"]
    [left, write_left] = await case.answer(respond("A"))
    assert (left.value["action_requests"][0]["args"]["year"], write_left.value["kind"]) == (3, "approval")
    case.finish()
    assert await case.answer(respond("C"), APPROVE) == []
    assert (case.stop, by_step(case.report)["a"]["output"]) == ("done", [7.5, 7.5, 7.5])
    assert case.shop.log.count("pay 1") == 1


# ---- what the planner lacks


def asks(*questions: tuple[str, str, str]) -> dict[str, Any]:
    named = [{"name": name, "question": text, "type": kind} for name, text, kind in questions]
    return {"goal": "", "steps": [], "questions": named}


@each_pattern
@pytest.mark.parametrize("kind", SAVERS)
async def test_what_the_task_lacks_is_asked_before_there_is_a_plan_and_the_answers_become_inputs(
    scripted_model: ScriptedModel, home: Path, tmp_path: Path, pattern: str, kind: str
) -> None:
    async with saver(kind, tmp_path) as kept:
        case = Case(scripted_model, pattern, kept, writes="allow")
        _, second = await case.start(asks(("who", "For whom?", "string"), ("how much", "How much?", "integer")))
        assert case.stop == "needs_input" and "For whom?" in case.report["stop"]["message"]
        assert [second.value["input"], second.value["answer_schema"]] == ["how_much", {"type": "integer"}]
        assert len(await case.answer(respond("Ann"))) == 1 and len(case.model.requests) == 1
        assert "does not fit" in value(await case.answer(respond("much")))["problem"]
        steps = (
            step("a", "look", {"name": "${steps.inputs.who}"}),
            step("b", "pay", {"amount": "${steps.inputs.how_much}"}),
        )
        case.model.reply(plan(*steps))
        case.finish()
        assert await case.answer(respond("5")) == []
        assert (case.stop, sorted(case.shop.log)) == ("done", ["look Ann", "pay 5"])
        told = str(case.model.requests[1]["messages"])
        assert "For whom?" in told and "Ann" in told
        assert case.report["people"] == [
            'input who: "Ann" comes from a person',
            "input how_much: 5 comes from a person",
        ]
        assert case.report["counts"].get("replans", 0) == 0


@each_pattern
async def test_a_planner_that_asks_the_same_again_is_told_and_one_that_asks_on_meets_the_limit(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern, limits={"questions": 1})
    await case.start(asks(("who", "For whom?", "string")))
    case.model.reply(asks(("who", "For  whom?", "string")), asks(("why", "Why?", "string")))
    assert await case.answer({"type": "reject", "message": "I won't say"}) == []
    assert case.stop == "questions" and "Why?" in case.report["stop"]["message"]
    assert "a person was asked all of this before" in str(case.model.requests[2]["messages"])


@each_pattern
async def test_a_run_that_cannot_wait_ends_with_what_its_planner_lacks(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    for settings in ({}, {"dry_run": True}):
        scripted_model.reply(asks(("who", "For whom?", "string")))
        context = {"model": scripted_model, **settings}
        report = (await graphs.load(pattern).ainvoke({"task": "do it"}, context=context))["report"]
        assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
        assert "For whom?" in report["stop"]["message"] and "checkpointer" in report["stop"]["message"]
        assert [one["kind"] for one in report["open_requests"]] == ["question"]


# ---- writes


@each_pattern
async def test_a_persons_word_stands_as_the_result_of_a_write_which_is_not_made(
    scripted_model: ScriptedModel, home: Path, pattern: str
) -> None:
    case = Case(scripted_model, pattern)
    steps = step("b", "pay", {"amount": 5}), step("c", "look", {"name": "${steps.b.paid} paid"})
    assert "respond" in value(await case.start(plan(*steps)))["review_configs"][0]["allowed_decisions"]
    case.finish()
    await case.answer(respond('{"paid": 5}'))
    assert (case.stop, case.shop.log, case.report["writes"]) == ("done", ["look 5 paid"], [])
    assert by_step(case.report)["b"]["output"] == {"paid": 5}
    assert case.report["people"] == ['step b (pay): the result = "{\\"paid\\": 5}" comes from a person']


async def test_a_plain_text_stands_as_the_result_of_a_write(scripted_model: ScriptedModel, home: Path) -> None:
    case = Case(scripted_model)
    await case.start(plan(step("b", "pay", {"amount": 5})))
    await case.answer(respond("paid in cash"))
    assert (case.stop, by_step(case.report)["b"]["output"], case.shop.log) == ("done", "paid in cash", [])


def _deep() -> Any:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize("amount", [10**40, _deep(), float("nan")], ids=["huge", "deep", "nan"])
async def test_an_edit_that_no_checkpoint_holds_is_asked_for_again(
    scripted_model: ScriptedModel, home: Path, amount: Any
) -> None:
    bank = Shop()
    scripted_model.reply(plan(step("p", "pay", {"amount": 7})))
    context = {"model": scripted_model, "tools": bank.tools()}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "pay"}, thread)
    edit = {"decisions": [{"type": "edit", "edited_action": {"name": "pay", "args": {"amount": amount}}}]}
    out = await graph.ainvoke(Command(resume={out["__interrupt__"][0].id: edit}), thread)
    assert not [one for one in out["report"]["results"] if one["status"] == "done"]
    assert out["report"]["stop"]["reason"] in ("needs_approval", "steps_failed")


async def test_an_answer_without_an_end_is_refused_before_it_is_kept(scripted_model: ScriptedModel, home: Path) -> None:
    bank = Shop()
    scripted_model.reply(plan(step("p", "pay", {"amount": 7})))
    context = {"model": scripted_model, "tools": bank.tools()}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "pay"}, thread)
    before = await graph.aget_state(thread)
    no = {out["__interrupt__"][0].id: {"decisions": [{"type": "reject", "message": "no" * 100_000}]}}
    with pytest.raises(InputError, match="characters, at most 100,000 are taken"):
        await graph.ainvoke(Command(resume=no), thread)
    assert await graph.aget_state(thread) == before
    no = {out["__interrupt__"][0].id: {"decisions": [{"type": "reject", "message": "no" * 40_000}]}}
    report = (await graph.ainvoke(Command(resume=no), thread))["report"]
    assert len(report["stop"]["message"]) + len(report["results"][0]["failure"]["message"]) < 2000


async def test_what_a_person_says_that_a_lost_write_gave_must_fit_the_tool(
    scripted_model: ScriptedModel, home: Path
) -> None:
    def lost(amount: int) -> dict[str, int]:
        """Pays, or not."""
        raise ConnectionError("gone")

    scripted_model.reply(plan(step("p", "lost", {"amount": 7}, retries=0)))
    context = {"model": scripted_model, "tools": [write(lost)], "writes": "allow"}
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context=context)
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = await graph.ainvoke({"task": "pay"}, thread)
    for output, reason in (({"rubbish": [1]}, "pending_reconcile"), ({"paid": 7}, "done")):
        [asked] = out["__interrupt__"]
        answer = {"decisions": [{"type": "approve", "output": output}]}
        out = await graph.ainvoke(Command(resume={asked.id: answer}), thread)
        assert out["report"]["stop"]["reason"] == reason
    assert by_step(out["report"])["p"]["output"] == {"paid": 7}


def test_the_event_of_an_answer_holds_the_mark_by_which_it_is_known_and_one_that_is_no_text_is_asked_again() -> None:
    shop = Shop()
    context = {"plan": {"goal": "pay", "steps": [{"id": "p", "tool": "pay", "args": {"amount": 3}}]}}
    graph = graphs.load("workflow", checkpointer=InMemorySaver(), context={**context, "tools": shop.tools()})
    [ask] = graph.invoke({"task": "pay"}, THREAD)["__interrupt__"]
    [again] = graph.invoke(Command(resume={"type": "approve", "mark": 5}), THREAD)["__interrupt__"]
    assert again.value["problem"].startswith("mark is 5; right would be a text that says which answer it is")
    out = graph.invoke(Command(resume={"type": "approve", "mark": "m1"}), THREAD)
    [answered] = [event for event in out["events"] if event["event"] == "answer"]
    assert (answered["reason"], answered["evidence"]) == ("approve", [ask.value["id"], "m1"])
    assert out["report"]["stop"]["reason"] == "done"
