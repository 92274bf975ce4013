"""S9: the monthly anomaly report: a detection with a confidence of 0.42 is under 0.8, so the user is asked.

The orders are rows of a SQLite file; how sure the detection is follows from how many there are, 50 for certainty.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from graphs import load
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
    look,
    plan,
    results,
    roles,
    says,
    statuses,
    step,
)  # fmt: skip
from tools.tool import Tool, read

TASK = "Write the report on anomalies in the sales of August 2026 for shop_a into report.md."
CONSTRAINTS = {"period": "2026-08", "tenant": "shop_a"}
ORDERED, ODD, WRITTEN = "t1", "t2", "t3"
"""What a planner calls its steps here is what turns are called."""
SURE = "confidence >= 0.8"


class Orders(TypedDict):
    """The orders of a month."""

    rows: int
    amounts: list[int]


class Anomalies(TypedDict):
    """What stands out."""

    confidence: float
    anomalies: list[int]


class Sales:
    """Orders in a file: 21 in August for shop_a, which is 0.42 of what certainty takes."""

    def __init__(self, path: Path, august: int = 21) -> None:
        self.path = path
        rows = [("shop_a", "2026-08", 100 + n % 7) for n in range(august - 1)] + [("shop_a", "2026-08", 9000)]
        rows += [("shop_a", "2026-07", 100)] * 40 + [("shop_b", "2026-08", 5)] * 60
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("CREATE TABLE orders (tenant TEXT, period TEXT, amount INTEGER)")
            db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)

    def query_orders(self, tenant: str, period: str, earlier: bool = False) -> Orders:
        """Gives the orders of a tenant in a month; with `earlier` those of all months up to it."""
        where = "<=" if earlier else "="
        with closing(sqlite3.connect(self.path)) as db:
            found = db.execute(
                f"SELECT amount FROM orders WHERE tenant = ? AND period {where} ?", (tenant, period)
            ).fetchall()
        return {"rows": len(found), "amounts": [amount for (amount,) in found]}

    def tools(self) -> list[Tool | str]:
        """As tools, with the one that writes the report."""
        return [read(self.query_orders), read(detect_anomalies), read(count_only), "write_file"]


def detect_anomalies(amounts: list[int]) -> Anomalies:
    """Finds amounts that stand out."""
    usual = sorted(amounts)[len(amounts) // 2]
    return {
        "confidence": min(1.0, round(len(amounts) / 50, 2)),
        "anomalies": [amount for amount in amounts if amount > 10 * usual],
    }


def count_only(amounts: list[int]) -> Any:
    """Finds amounts that stand out, and does not say how sure it is."""
    return {"anomalies": [amount for amount in amounts if amount > 1000]}


ORDERS = {"tenant": "shop_a", "period": "2026-08"}


def steps(tool: str = "detect_anomalies", on_failure: str = "ask", **query: Any) -> list[dict[str, Any]]:
    """Orders, anomalies, report: each with what must hold, and the user asked where it doesn't."""
    return [
        step(ORDERED, "query_orders", **{**ORDERS, **query}, more={"accept": ["rows > 0"], "on_failure": on_failure}),
        step(ODD, tool, amounts="${steps.t1.amounts}", more={"accept": [SURE], "on_failure": on_failure}),
        step(WRITTEN, "write_file", path="report.md", text="Anomalies: ${steps.t2.anomalies}"),
    ]


@pytest.fixture
def sales(tmp_path: Path) -> Sales:
    return Sales(tmp_path / "sales.db")


whole_plans = pytest.mark.parametrize("pattern", WHOLE_PLANS)
"""Where a plan says what must hold and who is asked when it doesn't; a turn can't."""


@pytest.fixture(params=ACTING)
def pattern(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(pattern: str, sales: Sales, root: Path, **more: Any) -> dict[str, Any]:
    """The whole state of a run: report and event log."""
    context = {"tools": sales.tools(), "root": str(root), "writes": "allow", "limits": {"retries": 0}, **more}
    state: dict[str, Any] = load(pattern, context=context).invoke({"task": TASK, "constraints": CONSTRAINTS})
    return state


def logged(state: dict[str, Any], kind: str, name: str = "") -> list[dict[str, Any]]:
    """The events of a kind, for one step if it is named."""
    return [event for event in state["events"] if event["event"] == kind and event["step"] == name]


@whole_plans
@pytest.mark.parametrize("check_after", ["plan", "step"])
def test_a_confidence_of_042_asks_the_user_and_writes_no_report(
    pattern: str, check_after: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    sooner = [look()] if (pattern, check_after) == ("plan_act_reflect", "step") else []
    model_server.reply(plan(*steps()), *sooner)
    report = run(pattern, sales, root, check_after=check_after)["report"]
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
    assert f"{ODD} needs a person" in report["stop"]["message"] and SURE in report["stop"]["message"]
    assert "0.42" in report["stop"]["message"] and report["stop"]["evidence"] == [ODD]
    assert results(report)[ODD]["status"] == "failed" and results(report)[ODD]["failure"]["kind"] == "result"
    assert list(root.iterdir()) == [] and report["writes"] == []
    assert len(model_server.requests) == 1 + len(sooner)  # nobody thinks on where a person is to be asked
    assert any(line.startswith(f"{WRITTEN} (write_file)") for line in report["missing"])


@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_that_sees_how_unsure_the_detection_is_says_so_and_writes_no_report(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    unsure = "The detection is not sure enough: 0.42 of 0.8. May I take the earlier months as well?"
    model_server.reply(*called(pattern, *steps(), turns=2), *gives_up(pattern, unsure))
    report = run(pattern, sales, root)["report"]
    assert "0.42" in model_server.requests[2]["messages"][-1]["content"]
    assert (report["stop"]["reason"], report["stop"]["message"]) == ("cannot_be_done", unsure)
    assert results(report)[ODD]["output"] == {"confidence": 0.42, "anomalies": [9000]}
    assert list(root.iterdir()) == [] and report["writes"] == []


@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_takes_the_earlier_months_in_its_next_turns_and_is_sure(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    wider = [{**one, "id": f"t{place}"} for place, one in enumerate(steps(earlier=True), 3)]
    wider[1]["args"] = {"amounts": "${steps.t3.amounts}"}
    wider[2]["args"] = {"path": "report.md", "text": "Anomalies: ${steps.t4.anomalies}"}
    model_server.reply(*in_turns(*steps()[:2], *wider), *after_planning(pattern, "One anomaly: 9000."))
    report = run(pattern, sales, root)["report"]
    assert report["stop"]["reason"] == "done" and (root / "report.md").read_text() == "Anomalies: [9000]"
    assert [results(report)[name]["output"]["confidence"] for name in (ODD, "t4")] == [0.42, 1.0]


@pytest.mark.parametrize("pattern", TURNING)
def test_a_report_on_an_unsure_detection_that_a_reasoner_asks_for_waits_for_a_person(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *steps()))
    report = run(pattern, sales, root, writes="ask")["report"]
    assert report["stop"]["reason"] == "needs_approval" and list(root.iterdir()) == []


@whole_plans
def test_the_event_log_says_what_failed_on_which_evidence_and_that_a_person_is_next(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()))
    state = run(pattern, sales, root)
    (event,) = logged(state, "failure", ODD)
    assert event["plan_version"] == 1 and event["next"] == "ask" and event["time"] > 0
    assert event["run"] == state["report"]["request"]
    assert SURE in event["reason"]
    tool, kind, cls, evidence = event["evidence"]
    assert (tool, kind, cls) == ("detect_anomalies", "result", "acceptance")
    assert evidence.startswith(f"{SURE}: failed") and "'confidence': 0.42" in evidence
    (stop,) = logged(state, "stop")
    assert stop["reason"].startswith("needs_input: ") and "0.42" in stop["reason"]
    assert stop["evidence"] == [ODD] and stop["next"] == "a person"
    assert json.loads(json.dumps(state["events"])) == state["events"]


@whole_plans
def test_whoever_watches_sees_the_same_events_while_it_runs(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()))
    context = {"tools": sales.tools(), "root": str(root), "writes": "allow"}
    given = {"task": TASK, "constraints": CONSTRAINTS}
    seen = list(load(pattern, context=context).stream(given, stream_mode="custom"))
    assert [(event["step"], event["next"]) for event in seen if event["event"] == "failure"] == [(ODD, "ask")]
    assert [event["next"] for event in seen if event["event"] == "stop"] == ["a person"]


@whole_plans
def test_what_the_detection_found_stays_in_the_report_for_the_person_who_is_asked(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps()))
    report = run(pattern, sales, root)["report"]
    assert results(report)[ODD]["output"] == {"confidence": 0.42, "anomalies": [9000]}
    (check,) = results(report)[ODD]["checks"]
    assert (check["condition"], check["outcome"], check["by"]) == (SURE, "failed", "code")
    assert results(report)[ORDERED]["output"]["rows"] == 21
    assert report["checks"]["failed"] == 1
    assert "confidence" in report["answer"] and report["answered_by"] == "code"


def test_a_sure_detection_writes_the_report(
    pattern: str, tmp_path: Path, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(*all_well(pattern, "One anomaly: 9000.", *steps()))
    state = run(pattern, Sales(tmp_path / "many.db", august=44), root)
    assert state["report"]["stop"]["reason"] == "done"
    assert (root / "report.md").read_text() == "Anomalies: [9000]"
    assert logged(state, "failure", ODD) == []


@whole_plans
def test_a_month_without_orders_asks_the_user_before_anything_is_detected(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    with closing(sqlite3.connect(sales.path)) as db, db:
        db.execute("DELETE FROM orders WHERE tenant = 'shop_a'")
    model_server.reply(plan(*steps()))
    report = run(pattern, sales, root)["report"]
    assert report["stop"]["reason"] == "needs_input" and "rows > 0" in report["stop"]["message"]
    assert statuses(report) == {ORDERED: "failed", ODD: "blocked", WRITTEN: "blocked"}


def test_a_plan_for_another_month_or_shop_never_runs(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    wrong: list[dict[str, Any]] = [{"tenant": "shop_b"}, {"period": "2026-07"}, {"tenant": "all"}]
    model_server.reply(*[one for query in wrong for one in called(pattern, *steps(**query), turns=1)])
    report = run(pattern, sales, root)["report"]
    assert report["stop"]["reason"] == "blocked" and report["results"] == []


@whole_plans
def test_a_detection_that_does_not_say_how_sure_it_is_is_no_success(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps(tool="count_only")[:2]), *after_planning(pattern, "One anomaly: 9000."))
    report = run(pattern, sales, root)["report"]
    assert report["checks"]["unverified"] == 1
    assert any("unverified: confidence" in risk for risk in report["risks"])
    if pattern != "self_reflection":
        assert report["stop"]["reason"] == "unverified"


@pytest.mark.parametrize("pattern", REVISING)
def test_where_the_plan_does_not_say_ask_a_wider_range_is_tried_in_a_second_version(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    wider = [{**one, "id": f"{one['id']}b"} for one in steps(earlier=True)[:1]]
    odd = step(f"{ODD}b", "detect_anomalies", amounts="${steps.t1b.amounts}", more={"accept": [SURE]})
    note = step("note", "write_file", path="report.md", text="Anomalies: ${steps.t2b.anomalies}")
    again = anew(pattern, "one month is too little, take more", "scope", *wider, odd, note)
    model_server.reply(plan(*steps(on_failure="block")), *again, *after_planning(pattern, "9000."))
    state = run(pattern, sales, root)
    assert state["report"]["stop"]["reason"] == "done"
    assert results(state["report"])[f"{ODD}b"]["output"] == {"confidence": 1.0, "anomalies": [9000]}
    assert (root / "report.md").read_text() == "Anomalies: [9000]"
    (event,) = logged(state, "failure", ODD)
    assert event["next"] == "replan" and "0.42" in event["evidence"][3]
    assert "0.42" in state["report"]["plans"][1]["reason"]


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_where_the_plan_does_not_say_ask_a_pattern_without_replanning_ends_as_not_accepted(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    model_server.reply(plan(*steps(on_failure="block")))
    if pattern == "rewoo":
        model_server.reply(says("The detection was not sure enough: 0.42."))
    state = run(pattern, sales, root)
    assert (state["report"]["stop"]["kind"], state["report"]["stop"]["reason"]) == ("failure", "not_accepted")
    assert "0.42" in state["report"]["stop"]["message"]
    assert logged(state, "failure", ODD)[0]["next"] == "stop"
    assert list(root.iterdir()) == []


@whole_plans
def test_the_users_word_comes_as_the_next_task_of_the_thread_which_knows_what_was_asked(
    pattern: str, sales: Sales, root: Path, model_server: ModelServer
) -> None:
    context = {"tools": sales.tools(), "root": str(root), "writes": "allow", "limits": {"retries": 0}}
    graph = load(pattern, context=context, checkpointer=InMemorySaver())
    model_server.reply(plan(*steps()))
    asked = graph.invoke({"task": TASK, "constraints": CONSTRAINTS}, THREAD)["report"]
    assert asked["stop"]["reason"] == "needs_input"
    model_server.reply(plan(*steps(earlier=True)), *after_planning(pattern, "One anomaly: 9000."))
    word = {"task": "Take the earlier months as well, then write the report.", "constraints": CONSTRAINTS}
    report = graph.invoke(word, THREAD)["report"]
    assert report["stop"]["reason"] == "done" and (root / "report.md").exists()
    assert report["counts"]["iterations"] == 1 and report["request"] != asked["request"]
    told = [body["messages"][-1]["content"] for body in model_server.requests if roles([body]) == ["planner"]]
    assert TASK not in told[1].split("<task>")[1].split("</task>")[0] and TASK in told[1]
