"""S6: a loan file: fetch the applicant, score the risk, under a contract of schemas, time-outs and retries."""

import re
import threading
from collections.abc import Iterator
from typing import Any, Literal

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pytest_httpserver import HTTPServer
from typing_extensions import TypedDict
from werkzeug import Request, Response

from graphs import load
from state.errors import ToolFailed
from tests.support.mail_server import MailServer
from tests.support.model_server import ModelServer
from tests.support.runs import (
    ACTING,
    GRADED,
    REVISING,
    THREAD,
    TURNING,
    WHOLE_PLANS,
    after_planning,
    all_well,
    anew,
    called,
    gives_up,
    impossible,
    in_turns,
    plan,
    results,
    roles,
    says,
    statuses,
    step,
    turn,
)  # fmt: skip
from tests.support.script import Reply
from tools.tool import Tool, read

TASK = "Prepare the loan file of applicant A7: fetch the data and score the risk."
ANN = {"name": "Ann Low", "income": 5200, "credit_score": 710}
LATE = 0.15
"""Seconds that a step waits for a registry that takes longer."""
OPS = "credit-ops@example.org"
NOTICE = {"to": OPS, "subject": "Applicant A7", "body": "The registry did not answer in time."}
ONCE = {"retries": 0, "replans": 0, "attempts": 1}


class Applicant(TypedDict):
    """What the registry gives."""

    name: str
    income: float
    credit_score: int


class Risk(TypedDict):
    """What the scoring gives."""

    risk_level: Literal["low", "medium", "high"]
    reason: str


class Registry:
    """A register of applicants behind a real HTTP server; `answers` is what it says, one by one, then `ANN`."""

    def __init__(self, http: HTTPServer) -> None:
        self.answers: list[Any] = []
        self.asked: list[str] = []
        self.closed = threading.Event()
        self.url = http.url_for("/registry")
        http.expect_request(re.compile("/registry/.*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.asked.append(request.path.rpartition("/")[2])
        answer = self.answers.pop(0) if self.answers else ANN
        if answer == "late":
            self.closed.wait(5)
        if isinstance(answer, int):
            return Response("no", status=answer)
        return Response(response=httpx.Response(200, json=answer).content, mimetype="application/json")

    async def fetch_applicant(self, applicant: str) -> Applicant:
        """Fetches the data of an applicant by number."""
        if not applicant.strip():
            raise ToolFailed("whose file is it? the number of the applicant is empty", "missing_input")
        async with httpx.AsyncClient(verify=False, trust_env=False) as client:  # loading certificates takes its time
            reply = await client.get(f"{self.url}/{applicant}")
        reply.raise_for_status()
        found: Applicant = reply.json()
        return found


def score_risk(income: float, score: int) -> Risk:
    """Scores the risk of a loan."""
    good = score >= 700 and income >= 3000
    return {"risk_level": "low" if good else "high", "reason": f"score {score}, income {income:g}"}


@pytest.fixture
def registry(loopback: HTTPServer, model_server: ModelServer) -> Iterator[Registry]:
    found = Registry(loopback)
    yield found
    found.closed.set()


def tools(registry: Registry) -> list[Tool | str]:
    return [read(registry.fetch_applicant, timeout=5), read(score_risk, timeout=2), "send_mail"]


FILE, RISK = "t1", "t2"
"""What a planner calls its steps here is what turns are called."""
ACCEPT = ["income > 0", "300 <= credit_score <= 850"]


def steps(applicant: str = "A7", **file_more: Any) -> list[dict[str, Any]]:
    """The contract: both steps with their conditions; `file_more` are further terms of the first one."""
    return [
        step(FILE, "fetch_applicant", applicant=applicant, more={"accept": ACCEPT, **file_more}),
        step(RISK, "score_risk", income="${steps.t1.income}", score="${steps.t1.credit_score}",
             more={"accept": ["risk_level in ['low', 'medium', 'high']"]}),
    ]  # fmt: skip


def run(pattern: str, registry: Registry, **more: Any) -> dict[str, Any]:
    context = {"tools": tools(registry), "limits": ONCE, **more}
    report: dict[str, Any] = load(pattern, context=context).invoke({"task": TASK})["report"]
    return report


def in_words(pattern: str, text: str, *, not_found: bool = False) -> list[Reply]:
    """What a pattern that asks for an answer is told when the run did not come to its end."""
    if pattern in TURNING:
        return gives_up(pattern, text, not_found=not_found)
    return [] if pattern == "one_shot" else [says(text)]


each_pattern = pytest.mark.parametrize("pattern", ACTING)
whole_plans = pytest.mark.parametrize("pattern", WHOLE_PLANS)
"""Where a plan says what must hold, how long to wait and what stands in; a turn can't."""


@each_pattern
def test_the_file_is_fetched_and_its_risk_scored_and_code_decides_every_condition_of_a_plan(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    model_server.reply(*all_well(pattern, "Low risk.", *steps(), once=True))
    report = run(pattern, registry)
    assert report["stop"]["reason"] == "done"
    assert results(report)[FILE]["output"] == ANN
    assert results(report)[RISK]["output"] == {"risk_level": "low", "reason": "score 710, income 5200"}
    conditions = {"passed": 0, "unchecked": 2} if pattern in TURNING else {"passed": 3, "unchecked": 0}
    conditions["passed"] += pattern in GRADED
    assert report["checks"] == {"failed": 0, "unverified": 0, **conditions}
    assert registry.asked == ["A7"] and report["usage"]["tool_calls"] == 2


@whole_plans
def test_a_plan_that_asks_for_what_the_contract_does_not_give_goes_back_before_anything_runs(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    file, risk = steps()
    wrong = {**risk, "args": {"income": "${steps.t1.income.net}", "score": "${steps.t1.name}"}}
    unknown = {**file, "accept": ["salary > 0"]}
    model_server.reply(plan(unknown, wrong), *all_well(pattern, "Low risk.", file, risk, once=True))
    report = run(pattern, registry)
    assert report["stop"]["reason"] == "done" and registry.asked == ["A7"]
    assert roles(model_server.requests)[:2] == ["planner", "planner"]
    finding = model_server.requests[1]["messages"][-1]["content"]
    assert "${steps.t1.income.net} leads nowhere" in finding
    assert "argument score: ${steps.t1.name} is of type string" in finding
    assert "about ['salary']" in finding and "credit_score" in finding
    assert len(report["plans"]) == 1


@pytest.mark.parametrize("pattern", TURNING)
def test_a_turn_that_asks_for_what_the_result_does_not_hold_goes_back_before_it_runs(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    file, risk = steps()
    wrong = {**risk, "args": {"income": "${steps.t1.income.net}", "score": "${steps.t1.name}"}}
    model_server.reply(*in_turns(file, wrong), *in_turns(file, risk)[1:], *after_planning(pattern, "Low risk."))
    report = run(pattern, registry)
    assert report["stop"]["reason"] == "done" and statuses(report) == {FILE: "done", RISK: "done"}
    finding = model_server.requests[2]["messages"][-1]["content"]
    assert "${steps.t1.income.net} leads nowhere" in finding
    assert "argument score: ${steps.t1.name} is of type string" in finding


@each_pattern
@pytest.mark.parametrize(
    "answer", [{**ANN, "credit_score": "n/a"}, {"name": "Ann Low", "income": 5200}, ["Ann Low"]],
    ids=["wrong type", "field missing", "no record"],
)  # fmt: skip
def test_data_that_break_the_schema_are_not_scored_and_stay_as_evidence(
    pattern: str, answer: Any, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [answer]
    model_server.reply(*called(pattern, *steps(accept=[]), turns=1), *in_words(pattern, "The data are unusable."))
    report = run(pattern, registry, limits={**ONCE, "retries": 2})
    assert report["stop"]["kind"] != "success"
    assert statuses(report) == {FILE: "failed", **({} if pattern in TURNING else {RISK: "blocked"})}
    failed = results(report)[FILE]
    assert failed["failure"]["kind"] == "result" and failed["failure"]["cls"] == "acceptance"
    assert "schema" in failed["failure"]["message"]
    assert failed["output"] == answer and failed["attempts"] == 1


@whole_plans
def test_data_that_fit_the_schema_but_not_the_conditions_are_not_scored(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [{**ANN, "credit_score": 9999}]
    model_server.reply(plan(*steps()), *in_words(pattern, "The score is no score."))
    report = run(pattern, registry)
    assert report["stop"]["kind"] != "success"
    assert statuses(report) == {FILE: "failed", RISK: "blocked"}
    assert ACCEPT[1] in results(report)[FILE]["failure"]["message"]
    assert report["checks"]["passed"] == report["checks"]["failed"] == 1


@each_pattern
def test_a_registry_that_is_busy_is_asked_again_and_the_tries_are_counted(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [503]
    model_server.reply(*all_well(pattern, "Low risk.", *steps()))
    report = run(pattern, registry, limits={"retries": 2})
    assert report["stop"]["reason"] == "done"
    assert results(report)[FILE]["attempts"] == 2 and registry.asked == ["A7", "A7"]
    assert report["usage"]["retries"] == 1 and report["usage"]["tool_calls"] == 3


@each_pattern
def test_a_registry_that_stays_busy_is_asked_no_more_often_than_step_and_limits_say(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [503] * 9
    model_server.reply(*called(pattern, *steps(retries=1), turns=1), *in_words(pattern, "The registry is down."))
    report = run(pattern, registry, limits={**ONCE, "retries": 1 if pattern in TURNING else 2})
    assert report["stop"]["kind"] in ("failure", "budget")
    assert results(report)[FILE]["failure"]["cls"] == "transient"
    assert len(registry.asked) == 2 == results(report)[FILE]["attempts"]
    assert statuses(report).get(RISK, "blocked") == "blocked"


@each_pattern
@pytest.mark.parametrize(("status", "cls"), [(404, "not_found"), (401, "auth")])
def test_what_another_try_can_not_mend_is_asked_once(
    pattern: str, status: int, cls: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [status]
    model_server.reply(
        *called(pattern, *steps(), turns=1), *in_words(pattern, "No such applicant.", not_found=status == 404)
    )
    report = run(pattern, registry, limits={**ONCE, "retries": 2})
    assert results(report)[FILE]["failure"]["cls"] == cls
    assert registry.asked == ["A7"]


@whole_plans
def test_a_late_registry_leads_to_a_notice_to_a_person_by_mail_and_no_score_is_made_up(
    pattern: str, model_server: ModelServer, registry: Registry, mail_server: MailServer
) -> None:
    registry.answers = ["late"]
    late: dict[str, Any] = {"timeout": LATE, "fallback": {"tool": "send_mail", "args": NOTICE}, "accept": []}
    model_server.reply(plan(*steps(**late)), *in_words(pattern, "The team was told."))
    context = {"smtp": mail_server.url, "writes": "allow", "limits": {**ONCE, "retries": 2}}
    report = run(pattern, registry, **context)
    (mail,) = mail_server.messages
    assert mail.recipients == [OPS] and registry.asked == ["A7"]
    assert report["stop"]["kind"] in ("failure", "budget")
    assert statuses(report) == {FILE: "degraded", RISK: "failed"}
    assert results(report)[FILE]["failure"]["cls"] == "timeout"
    assert results(report)[RISK]["attempts"] == 0 and results(report)[RISK]["output"] is None
    assert any(FILE in line and "send_mail" in line for line in report["writes"])
    assert any(FILE in risk for risk in report["risks"])


@whole_plans
def test_the_notice_is_a_write_that_waits_for_its_person_and_is_sent_once(
    pattern: str, model_server: ModelServer, registry: Registry, mail_server: MailServer
) -> None:
    registry.answers = ["late", "late"]
    late: dict[str, Any] = {"timeout": LATE, "fallback": {"tool": "send_mail", "args": NOTICE}, "accept": []}
    file = steps(**late)[0]
    model_server.reply(plan(file), *after_planning(pattern, "The team was told.", once=True))
    context = {"tools": tools(registry), "smtp": mail_server.url, "limits": ONCE}
    graph = load(pattern, context=context, checkpointer=InMemorySaver())
    state = graph.invoke({"task": TASK}, THREAD)
    (ask,) = state["__interrupt__"]
    assert state["report"]["stop"]["reason"] == "needs_approval" and mail_server.messages == []
    assert ask.value["action_requests"][0]["args"] == NOTICE
    report = graph.invoke(Command(resume={ask.id: {"decisions": [{"type": "approve"}]}}), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and statuses(report) == {FILE: "degraded"}
    assert any(risk.startswith(f"step {FILE}: the fallback send_mail stands in") for risk in report["risks"])
    assert len(mail_server.messages) == 1


@pytest.mark.parametrize("pattern", TURNING)
def test_after_a_late_registry_the_notice_a_turn_asks_for_waits_for_its_person_and_nothing_is_scored(
    pattern: str, model_server: ModelServer, registry: Registry, mail_server: MailServer
) -> None:
    registry.answers = ["late"]
    late = [read(registry.fetch_applicant, timeout=LATE), *tools(registry)[1:]]
    asked = in_turns(steps()[0], step("told", "send_mail", **NOTICE))
    model_server.reply(*asked, *after_planning(pattern, "The registry was late; the team was told."))
    context = {"tools": late, "smtp": mail_server.url, "limits": ONCE}
    graph = load(pattern, context=context, checkpointer=InMemorySaver())
    state = graph.invoke({"task": TASK}, THREAD)
    (ask,) = state["__interrupt__"]
    assert ask.value["action_requests"][0]["args"] == NOTICE and mail_server.messages == []
    report = graph.invoke(Command(resume={ask.id: {"decisions": [{"type": "approve"}]}}), THREAD)["report"]
    assert len(mail_server.messages) == 1 and registry.asked == ["A7"]
    assert statuses(report) == {FILE: "failed", "t2": "done"}
    assert results(report)[FILE]["failure"]["cls"] == "timeout"


@pytest.mark.parametrize("pattern", REVISING)
def test_after_a_time_out_the_next_version_of_the_plan_goes_on_from_what_is_there(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = ["late"]
    again = anew(pattern, "give the registry more time", "argument", *steps(timeout=4))
    model_server.reply(plan(*steps(timeout=LATE)), *again, *after_planning(pattern, "Low risk."))
    report = run(pattern, registry, limits={"retries": 0})
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {FILE: "failed", RISK: "blocked", f"{FILE}_v2": "done", f"{RISK}_v2": "done"}
    assert "(timeout)" in report["plans"][1]["reason"]
    assert report["plans"][1]["change"]["changed"] == [f"{FILE}_v2", f"{RISK}_v2"]
    assert results(report)[f"{RISK}_v2"]["output"]["risk_level"] == "low"


@each_pattern
def test_a_task_that_names_no_applicant_is_given_back_with_the_models_words_and_nothing_runs(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    why = "which applicant? the task names none"
    model_server.reply(*([turn(impossible=why)] if pattern in TURNING else [impossible(why)]))
    report = run(pattern, registry)
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("failure", "cannot_be_done")
    assert report["stop"]["message"] == why
    assert "which applicant?" in report["answer"]
    assert registry.asked == [] and report["results"] == []


@each_pattern
def test_a_tool_that_lacks_an_input_pauses_the_run_with_its_question(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    model_server.reply(*called(pattern, *steps(applicant=" "), turns=1))
    report = run(pattern, registry, limits={"retries": 2})
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
    assert "whose file is it?" in report["stop"]["message"] and report["stop"]["evidence"] == [FILE]
    assert results(report)[FILE]["failure"]["kind"] == "input"
    assert results(report)[FILE]["attempts"] == 1 and registry.asked == []
    assert len(report["plans"]) == 1  # what only a person knows is not planned around


@whole_plans
def test_a_step_whose_contract_says_ask_pauses_the_run_when_the_registry_is_late(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = ["late"]
    model_server.reply(plan(*steps(timeout=LATE, on_failure="ask")))
    report = run(pattern, registry)
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
    assert "no result within" in report["stop"]["message"]
    assert statuses(report) == {FILE: "failed", RISK: "blocked"}
    assert len(report["plans"]) == 1 and report["answer"]
