"""S8: a refund: policy, order state, submit. Only with both, only approved, only on fresh evidence, and only once.

The shop is one SQLite file: what the look-ups read are rows, and a refund that happened is a row.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from typing_extensions import TypedDict

from graphs import load
from graphs._bridge import Pattern
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import (
    ACTING,
    REVISING,
    THREAD,
    TURNING,
    WHOLE_PLANS,
    after_planning,
    all_well,
    anew,
    called,
    gives_up,
    in_turns,
    plan,
    results,
    says,
    statuses,
    step,
)  # fmt: skip
from tests.support.script import Reply
from tools.tool import Tool, ToolEnv, read, write

TASK = "Check whether order 1 may be refunded under the policy, and submit the refund."
ONCE = {"retries": 0, "replans": 0, "attempts": 1}


class Policy(TypedDict):
    """What the policy says of an order."""

    valid: bool
    days: int


class Order(TypedDict):
    """How an order stands."""

    state: str
    amount: int
    refundable: bool


class Refund(TypedDict):
    """A refund that was submitted."""

    refund: int
    amount: int


class Shop:
    """Orders, a policy and refunds in one file; `before` and `after` are what goes wrong around the effect."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before: list[Exception] = []
        self.after: list[Exception] = []
        self.looks, self.full = 0, True
        self.sql("CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT, amount INTEGER)")
        self.sql("CREATE TABLE policy (days INTEGER, valid INTEGER)")
        self.sql("CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id TEXT, amount INTEGER, key TEXT)")
        self.sql("INSERT INTO orders VALUES ('1', 'delivered', 80)")
        self.sql("INSERT INTO policy VALUES (30, 1)")

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """Runs one statement and commits it."""
        with closing(sqlite3.connect(self.path)) as db, db:
            return db.execute(statement, values).fetchall()

    @property
    def refunds(self) -> list[tuple[str, int]]:
        """What was really refunded."""
        return self.sql("SELECT order_id, amount FROM refunds")

    def refund_policy(self) -> Policy:
        """Looks the refund policy up."""
        [(days, valid)] = self.sql("SELECT days, valid FROM policy")
        return {"valid": bool(valid), "days": days}

    def order_state(self, order: str) -> Order:
        """Looks the state of an order up."""
        self.looks += 1
        [(state, amount)] = self.sql("SELECT state, amount FROM orders WHERE id = ?", order)
        return {"state": state, "amount": amount, "refundable": state == "delivered" and amount > 0}

    def submit_refund(self, order: str, amount: int, env: ToolEnv) -> Refund:
        """Submits a refund."""
        if self.before:
            raise self.before.pop(0)
        self.sql("INSERT INTO refunds (order_id, amount, key) VALUES (?, ?, ?)", order, amount, env.key)
        if self.after:
            raise self.after.pop(0)
        [(number,)] = self.sql("SELECT max(id) FROM refunds")
        return {"refund": number, "amount": amount}

    async def find_refund(self, args: dict[str, Any], key: str) -> Refund | None:
        """Whether the refund with this key was made."""
        found = self.sql("SELECT id, amount FROM refunds WHERE key = ?", key)
        return {"refund": found[0][0], "amount": found[0][1]} if found else None

    def tell(self, refund: int) -> str:
        """Tells the customer; the first time the mailbox is full."""
        if self.full:
            self.full = False
            raise LookupError("the mailbox is full")
        return f"told about refund {refund}"

    def tools(self, **more: Any) -> list[Tool]:
        """As tools; `more` are fields of the refund tool."""
        return [read(self.refund_policy), read(self.order_state), write(self.submit_refund, **more), read(self.tell)]


RULE, ORDER, PAY = "t1", "t2", "t3"
"""What a planner calls its steps here is what turns are called."""
EVIDENCE = [RULE, ORDER]


def steps(amount: Any = "${steps.t2.amount}") -> list[dict[str, Any]]:
    """Policy and order state, then the refund, which rests on both."""
    return [
        step(RULE, "refund_policy", more={"accept": ["valid == True"]}),
        step(ORDER, "order_state", order="1", more={"accept": ["refundable == True"]}),
        step(PAY, "submit_refund", order="1", amount=amount, more={"rests_on": EVIDENCE}),
    ]


LOST = ConnectionError("the line broke")
REFUSED = ToolFailed("the service is restarting, try again", "transient")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "shop.db")


@pytest.fixture(params=ACTING)
def pattern(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def graph(pattern: str, shop: Shop, saver: Any = None, *, tool: dict[str, Any] | None = None, **more: Any) -> Pattern:
    """The pattern over the shop; `tool` are fields of the refund tool, `more` further settings."""
    context = {"tools": shop.tools(**(tool or {})), "limits": ONCE, **more}
    return load(pattern, context=context, checkpointer=saver or InMemorySaver())


def run(pattern: str, shop: Shop, **more: Any) -> dict[str, Any]:
    """The report of a run whose writes need no person."""
    report: dict[str, Any] = graph(pattern, shop, writes="allow", **more).invoke({"task": TASK}, THREAD)["report"]
    return report


def answer(state: dict[str, Any], decision: str, **more: Any) -> Command[Any]:
    """The same decision for everything that is asked."""
    given = {"decisions": [{"type": decision, **more}]}
    return Command(resume={ask.id: given for ask in state["__interrupt__"]})


def told(pattern: str, text: str = "It was not refunded.") -> list[Reply]:
    """What a pattern that asks for an answer is told when the run did not come to its end."""
    if pattern in TURNING:
        return gives_up(pattern, text)
    return [] if pattern == "one_shot" else [says(text)]


whole_plans = pytest.mark.parametrize("pattern", WHOLE_PLANS)
"""Where a plan says what must hold; a turn can't."""
NEWS = "go by the evidence as it is now"


def test_the_refund_is_submitted_after_policy_and_order_state_and_an_approval(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(*all_well(pattern, "80 refunded.", *steps(), once=True))
    waiting = graph(pattern, shop)
    state = waiting.invoke({"task": TASK}, THREAD)
    (ask,) = state["__interrupt__"]
    assert ask.value["action_requests"][0]["args"] == {"order": "1", "amount": 80}
    assert state["report"]["stop"]["reason"] == "needs_approval" and shop.refunds == []
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert report["stop"]["reason"] == "done"
    assert shop.refunds == [("1", 80)] and results(report)[PAY]["output"] == {"refund": 1, "amount": 80}
    assert report["writes"] == [f"{PAY}: submit_refund done"]


@whole_plans
@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ("UPDATE policy SET valid = 0", RULE),
        ("UPDATE orders SET state = 'shipped'", ORDER),
        ("DELETE FROM orders", ORDER),
        ("DROP TABLE policy", RULE),
    ],
)  # fmt: skip
def test_without_a_valid_policy_and_a_refundable_order_nothing_is_asked_and_nothing_is_paid(
    pattern: str, change: str, bad: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.sql(change)
    model_server.reply(plan(*steps(amount=80)), *told(pattern))
    state = graph(pattern, shop).invoke({"task": TASK}, THREAD)
    assert "__interrupt__" not in state and shop.refunds == []
    report = state["report"]
    assert report["stop"]["kind"] in ("failure", "budget") and bad in report["stop"]["message"]
    assert statuses(report) == {RULE: "done", ORDER: "done", PAY: "blocked", bad: "failed"}
    assert report["writes"] == []


@pytest.mark.parametrize("change", ["UPDATE policy SET valid = 0", "UPDATE orders SET state = 'shipped'"])
@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_that_sees_a_no_asks_for_no_refund_and_one_that_asks_in_spite_of_it_waits_for_a_person(
    pattern: str, change: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.sql(change)
    model_server.reply(*called(pattern, *steps(), turns=2), *told(pattern))
    report = graph(pattern, shop).invoke({"task": TASK}, THREAD)["report"]
    assert report["stop"]["reason"] == "cannot_be_done" and report["writes"] == [] and report["answer"]
    model_server.reply(*called(pattern, *steps()))
    report = graph(pattern, shop).invoke({"task": TASK}, THREAD)["report"]
    assert report["stop"]["reason"] == "needs_approval" and shop.refunds == []


def test_a_rejected_refund_is_not_paid_and_not_planned_around(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *steps()), *([] if pattern == "one_shot" else [says("It was not refunded.")]))
    waiting = graph(pattern, shop, limits={})
    state = waiting.invoke({"task": TASK}, THREAD)
    report = waiting.invoke(answer(state, "reject", message="third refund this month"), THREAD)["report"]
    assert (report["stop"]["reason"], report["stop"]["message"]) == ("rejected", "third refund this month")
    assert shop.refunds == [] and len(report["plans"]) == 1


def test_a_run_that_may_not_write_refuses_the_refund(pattern: str, shop: Shop, model_server: ModelServer) -> None:
    if pattern in TURNING:
        *reads, pay = in_turns(*steps())
        model_server.reply(*reads, pay, pay, pay, says("It was not refunded."))
    else:
        model_server.reply(*[plan(*steps())] * 3)
    report = graph(pattern, shop, writes="deny").invoke({"task": TASK}, THREAD)["report"]
    assert report["stop"]["kind"] == "failure" and report["stop"]["reason"] == "blocked"
    assert shop.refunds == [] and shop.looks == (1 if pattern in TURNING else 0)


def test_a_constraint_that_asks_for_an_approval_holds_though_the_settings_allow_writes(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *steps()))
    given = {"task": TASK, "constraints": {"approve": ["submit_refund"]}}
    state = graph(pattern, shop, writes="allow").invoke(given, THREAD)
    assert state["report"]["stop"]["reason"] == "needs_approval" and shop.refunds == []


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_a_refund_on_evidence_that_changed_while_it_waited_never_runs_and_the_report_says_what_changed(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()), *told(pattern))
    waiting = graph(pattern, shop)
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("UPDATE orders SET amount = 20")
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert shop.refunds == [] and report["stop"]["reason"] == "steps_failed"
    assert results(report)[PAY]["failure"] == {
        "kind": "plan", "cls": "stale", "message": results(report)[PAY]["failure"]["message"],
    }  # fmt: skip
    assert f"'{ORDER}'" in report["stop"]["message"] and "'amount': 20" in report["stop"]["message"]
    assert results(report)[ORDER]["output"]["amount"] == 20
    assert report["writes"] == [] and len(report["plans"]) == 1


@pytest.mark.parametrize("pattern", REVISING)
def test_a_stale_refund_is_planned_anew_from_what_is_so_now_and_asked_again(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(
        plan(*steps()), *anew(pattern, NEWS, "argument", steps()[2]), *after_planning(pattern, "20 refunded.")
    )
    waiting = graph(pattern, shop, limits={"retries": 0})
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("UPDATE orders SET amount = 20")
    state = waiting.invoke(answer(state, "approve"), THREAD)
    assert shop.refunds == []
    (ask,) = state["__interrupt__"]
    assert ask.value["step"] == f"{PAY}_v2"
    assert ask.value["action_requests"][0]["args"] == {"order": "1", "amount": 20}
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 20)]
    assert "(stale)" in report["plans"][1]["reason"]
    assert report["plans"][1]["change"]["kept"] == EVIDENCE
    assert report["writes"] == [f"{PAY}_v2: submit_refund done"]


@pytest.mark.parametrize("pattern", TURNING)
def test_after_a_stale_refund_the_next_turn_goes_by_what_is_so_now_and_is_asked_again(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    again = in_turns(*steps(), steps()[2])[-1]
    model_server.reply(*called(pattern, *steps()), again, *after_planning(pattern, "20 refunded."))
    waiting = graph(pattern, shop)
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("UPDATE orders SET amount = 20")
    state = waiting.invoke(answer(state, "approve"), THREAD)
    assert shop.refunds == []
    (ask,) = state["__interrupt__"]
    assert (ask.value["step"], ask.value["action_requests"][0]["args"]) == ("t4", {"order": "1", "amount": 20})
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 20)]
    assert results(report)[PAY]["failure"]["cls"] == "stale"


@whole_plans
def test_evidence_that_changed_into_a_no_ends_without_a_refund(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()), *told(pattern))
    waiting = graph(pattern, shop)
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("UPDATE policy SET valid = 0")
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert shop.refunds == [] and report["stop"]["kind"] in ("failure", "budget")
    assert statuses(report)[PAY] == "failed" and statuses(report)[RULE] == "failed"
    assert results(report)[RULE]["checks"][0]["outcome"] == "failed"


def test_evidence_that_can_not_be_read_again_keeps_the_refund_back(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *steps()), *told(pattern))
    waiting = graph(pattern, shop, lease=0.0)
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("DROP TABLE orders")
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert shop.refunds == [] and report["stop"]["kind"] in ("failure", "budget")
    assert "can't be read again" in results(report)[PAY]["failure"]["message"]


def test_evidence_that_is_not_named_is_read_again_once_it_is_older_than_the_lease(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    rule, order, pay = steps()
    model_server.reply(*called(pattern, rule, order, {**pay, "rests_on": []}), *told(pattern))
    waiting = graph(pattern, shop, lease=0.0)
    state = waiting.invoke({"task": TASK}, THREAD)
    shop.sql("UPDATE orders SET amount = 20")
    report = waiting.invoke(answer(state, "approve"), THREAD)["report"]
    assert shop.refunds == [] and results(report)[PAY]["failure"]["cls"] == "stale"


@pytest.mark.parametrize(("decision", "paid"), [("approve", []), ("reject", [("1", 80)])])
def test_a_refund_whose_outcome_nobody_knows_stays_pending_until_a_person_says(
    pattern: str, decision: str, paid: list[Any], shop: Shop, model_server: ModelServer
) -> None:
    """The line breaks before the effect: a person who says that it happened is believed, a no lets it run."""
    shop.before = [LOST]
    model_server.reply(*all_well(pattern, "Settled.", *steps()))
    waiting = graph(pattern, shop, writes="allow", limits={"retries": 2})
    state = waiting.invoke({"task": TASK}, THREAD)
    report = state["report"]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "pending_reconcile")
    assert statuses(report)[PAY] == "unknown" and shop.refunds == []
    (ask,) = report["open_requests"]
    assert ask["kind"] == "reconcile" and ask["review_configs"][0]["allowed_decisions"] == ["approve", "reject"]
    assert any("pending_reconcile" in risk for risk in report["risks"])
    report = waiting.invoke(answer(state, decision), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and shop.refunds == paid


def test_a_refund_that_happened_before_the_line_broke_is_never_paid_again(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.after = [LOST]
    model_server.reply(*all_well(pattern, "80 refunded.", *steps()))
    waiting = graph(pattern, shop, writes="allow", limits={"retries": 2})
    state = waiting.invoke({"task": TASK}, THREAD)
    assert state["report"]["stop"]["reason"] == "pending_reconcile" and shop.refunds == [("1", 80)]
    report = waiting.invoke(answer(state, "approve", output={"refund": 1, "amount": 80}), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]
    assert results(report)[PAY]["output"] == {"refund": 1, "amount": 80}


def test_a_run_that_can_not_wait_reports_the_unknown_outcome_as_pending(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.after = [LOST]
    model_server.reply(*called(pattern, *steps()))
    context = {"tools": shop.tools(), "writes": "allow"}
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "pending_reconcile" and shop.refunds == [("1", 80)]
    assert len(report["plans"]) == 1 and "refunded" not in str(report["answer"])


def test_the_tools_own_look_up_finds_the_refund_that_happened_and_nobody_is_asked(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.after = [LOST]
    model_server.reply(*all_well(pattern, "80 refunded.", *steps(), once=True))
    report = run(pattern, shop, tool={"lookup": shop.find_refund})
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]
    assert results(report)[PAY]["output"] == {"refund": 1, "amount": 80}
    assert "look-up" in results(report)[PAY]["note"]


def test_the_tools_own_look_up_that_finds_nothing_makes_it_a_failure_and_no_refund(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.before = [LOST]
    model_server.reply(*called(pattern, *steps()), *told(pattern))
    report = run(pattern, shop, tool={"lookup": shop.find_refund})
    assert report["stop"]["kind"] in ("failure", "budget") and shop.refunds == []
    assert results(report)[PAY]["failure"]["cls"] == "transient"


def test_a_refusal_that_promises_no_effect_is_tried_again_and_paid_once(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    shop.before = [REFUSED]
    model_server.reply(*all_well(pattern, "80 refunded.", *steps()))
    report = run(pattern, shop, limits={"retries": 2})
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]
    assert results(report)[PAY]["attempts"] == 2


@pytest.mark.parametrize("pattern", REVISING)
@pytest.mark.parametrize("again", [PAY, "money"])
def test_a_plan_made_anew_after_the_refund_never_pays_again_even_if_it_plans_to(
    pattern: str, again: str, shop: Shop, model_server: ModelServer
) -> None:
    tell = step("tell", "tell", refund="${steps.t3.refund}")
    pay = {**steps()[2], "id": again}
    second = step("tell", "tell", refund=f"${{steps.{again}.refund}}", more={"after": [ORDER]})
    model_server.reply(
        plan(*steps(), tell), *anew(pattern, NEWS, "argument", pay, second), *after_planning(pattern, "80 refunded.")
    )
    report = run(pattern, shop, limits={"retries": 0})
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]
    assert len(report["plans"]) == 2
    if again == "money":
        assert "not repeated" in results(report)["money"]["note"]
        assert results(report)["money"]["output"] == results(report)[PAY]["output"]


def test_a_resumed_thread_on_another_graph_object_pays_once_however_often_it_is_invoked(
    pattern: str, shop: Shop, tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.reply(*all_well(pattern, "80 refunded.", *steps(), once=True))
    state: dict[str, Any] = {}
    for given in ({"task": TASK}, "approve", None, None):
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            what = answer(state, given) if isinstance(given, str) else given
            state = graph(pattern, shop, saver).invoke(what, THREAD)
    assert state["report"]["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]


@pytest.mark.parametrize(("key", "paid"), [(True, 1), (False, 2)])
def test_another_request_for_the_same_order_pays_again_unless_the_tool_has_a_key_of_the_business(
    pattern: str, key: bool, paid: int, shop: Shop, model_server: ModelServer
) -> None:
    tool = {"business_key": lambda args: f"refund of {args['order']}"} if key else {}
    for _ in range(2):
        model_server.reply(*all_well(pattern, "80 refunded.", *steps(), once=True))
        report = run(pattern, shop, tool=tool)
        assert report["stop"]["reason"] == "done"
    assert len(shop.refunds) == paid
    assert ("not repeated" in results(report)[PAY]["note"]) is key


def test_the_plan_being_done_is_not_the_business_being_done(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    """The money service answers that it does not know: an answer in words must not call it refunded."""
    shop.after = [ToolFailed("the payment system is in an unknown state", nothing_happened=False)]
    model_server.reply(*called(pattern, *steps()))
    report = run(pattern, shop)
    assert report["stop"]["reason"] == "pending_reconcile"
    assert report["answered_by"] in ("", "code")  # no model words what nobody knows
    assert report["writes"] == [f"{PAY}: submit_refund unknown"]


@pytest.mark.parametrize("pattern", REVISING)
def test_a_refund_that_was_asked_twice_in_two_versions_keeps_one_row_and_both_reasons(
    pattern: str, shop: Shop, model_server: ModelServer
) -> None:
    """The look-up says that nothing happened, so the next version may try again, otherwise than before."""
    shop.before = [LOST]
    again = {**steps()[2], "retries": 1}
    model_server.reply(
        plan(*steps()), *anew(pattern, NEWS, "argument", again), *after_planning(pattern, "80 refunded.")
    )
    report = run(pattern, shop, tool={"lookup": shop.find_refund}, limits={"retries": 2})
    assert report["stop"]["reason"] == "done" and shop.refunds == [("1", 80)]
    assert statuses(report)[PAY] == "failed" and statuses(report)[f"{PAY}_v2"] == "done"
    assert "the line broke" in report["plans"][1]["reason"]


@whole_plans
@pytest.mark.parametrize("between", [False, True])
def test_a_condition_that_nobody_can_decide_is_no_yes_and_nothing_is_paid(
    pattern: str, between: bool, shop: Shop, model_server: ModelServer
) -> None:
    """The policy's answer does not say whether it is valid: its condition is neither passed nor failed."""

    def bare_policy() -> Any:
        """Looks the refund policy up."""
        return {"days": 30}

    def limit(days: Any) -> Any:
        """The most that may be paid."""
        return 80

    rule, order, pay = steps(amount="${steps.most}" if between else 80)
    most = [step("most", "limit", days="${steps.t1.days}")] if between else []
    last = {**pay, "rests_on": [ORDER] if between else EVIDENCE}
    model_server.reply(plan({**rule, "tool": "bare_policy"}, order, *most, last), *told(pattern))
    context = {"tools": [*shop.tools(), read(bare_policy), read(limit)], "limits": ONCE, "writes": "allow"}
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert shop.refunds == [] and report["stop"]["kind"] in ("failure", "budget")
    assert results(report)[RULE]["checks"][0]["outcome"] == "unverified"
    assert (
        f"'{RULE}', whose condition could not be decided: valid == True" in results(report)[PAY]["failure"]["message"]
    )
