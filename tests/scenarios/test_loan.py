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
    PATTERNS,
    REPLANNING,
    THREAD,
    after_planning,
    impossible,
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


ACCEPT = ["income > 0", "300 <= credit_score <= 850"]


def steps(applicant: str = "A7", **file_more: Any) -> list[dict[str, Any]]:
    """The contract: both steps with their conditions; `file_more` are further terms of the first one."""
    return [
        step("file", "fetch_applicant", applicant=applicant, more={"accept": ACCEPT, **file_more}),
        step("risk", "score_risk", income="${steps.file.income}", score="${steps.file.credit_score}",
             more={"accept": ["risk_level in ['low', 'medium', 'high']"]}),
    ]  # fmt: skip


def run(pattern: str, registry: Registry, **more: Any) -> dict[str, Any]:
    context = {"tools": tools(registry), "limits": ONCE, **more}
    report: dict[str, Any] = load(pattern, context=context).invoke({"task": TASK})["report"]
    return report


def in_words(pattern: str, text: str) -> list[Reply]:
    """What a pattern that asks for an answer is told when the run did not come to its end."""
    return [] if pattern == "one_shot" else [says(text)]


each_pattern = pytest.mark.parametrize("pattern", PATTERNS)


@each_pattern
def test_the_file_is_fetched_and_its_risk_scored_with_every_condition_of_the_contract_decided_by_code(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    model_server.reply(plan(*steps()), *after_planning(pattern, "Low risk."))
    report = run(pattern, registry)
    assert report["stop"]["reason"] == "done"
    assert results(report)["file"]["output"] == ANN
    assert results(report)["risk"]["output"] == {"risk_level": "low", "reason": "score 710, income 5200"}
    assert report["checks"] == {"passed": 3, "failed": 0, "unverified": 0, "unchecked": 0}
    assert registry.asked == ["A7"] and report["usage"]["tool_calls"] == 2


@each_pattern
def test_a_plan_that_asks_for_what_the_contract_does_not_give_goes_back_before_anything_runs(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    file, risk = steps()
    wrong = {**risk, "args": {"income": "${steps.file.income.net}", "score": "${steps.file.name}"}}
    unknown = {**file, "accept": ["salary > 0"]}
    model_server.reply(plan(unknown, wrong), plan(file, risk), *after_planning(pattern, "Low risk."))
    report = run(pattern, registry)
    assert report["stop"]["reason"] == "done" and registry.asked == ["A7"]
    assert roles(model_server.requests)[:2] == ["planner", "planner"]
    finding = model_server.requests[1]["messages"][-1]["content"]
    assert "${steps.file.income.net} leads nowhere" in finding
    assert "argument score: ${steps.file.name} is of type string" in finding
    assert "about ['salary']" in finding and "credit_score" in finding
    assert len(report["plans"]) == 1


@each_pattern
@pytest.mark.parametrize(
    "answer", [{**ANN, "credit_score": "n/a"}, {"name": "Ann Low", "income": 5200}, ["Ann Low"]],
    ids=["wrong type", "field missing", "no record"],
)  # fmt: skip
def test_data_that_break_the_schema_are_not_scored_and_stay_as_evidence(
    pattern: str, answer: Any, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [answer]
    model_server.reply(plan(*steps(accept=[])), *in_words(pattern, "The data are unusable."))
    report = run(pattern, registry, limits={**ONCE, "retries": 2})
    assert report["stop"]["kind"] != "success"
    assert statuses(report) == {"file": "failed", "risk": "blocked"}
    failed = results(report)["file"]
    assert failed["failure"]["kind"] == "result" and failed["failure"]["cls"] == "acceptance"
    assert "schema" in failed["failure"]["message"]
    assert failed["output"] == answer and failed["attempts"] == 1


@each_pattern
def test_data_that_fit_the_schema_but_not_the_conditions_are_not_scored(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [{**ANN, "credit_score": 9999}]
    model_server.reply(plan(*steps()), *in_words(pattern, "The score is no score."))
    report = run(pattern, registry)
    assert report["stop"]["kind"] != "success"
    assert statuses(report) == {"file": "failed", "risk": "blocked"}
    assert ACCEPT[1] in results(report)["file"]["failure"]["message"]
    assert report["checks"]["passed"] == report["checks"]["failed"] == 1


@each_pattern
def test_a_registry_that_is_busy_is_asked_again_and_the_tries_are_counted(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [503]
    model_server.reply(plan(*steps()), *after_planning(pattern, "Low risk."))
    report = run(pattern, registry, limits={"retries": 2})
    assert report["stop"]["reason"] == "done"
    assert results(report)["file"]["attempts"] == 2 and registry.asked == ["A7", "A7"]
    assert report["usage"]["retries"] == 1 and report["usage"]["tool_calls"] == 3


@each_pattern
def test_a_registry_that_stays_busy_is_asked_no_more_often_than_the_step_says(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [503] * 9
    model_server.reply(plan(*steps(retries=1)), *in_words(pattern, "The registry is down."))
    report = run(pattern, registry, limits={**ONCE, "retries": 2})
    assert report["stop"]["kind"] in ("failure", "budget")
    assert results(report)["file"]["failure"]["cls"] == "transient"
    assert len(registry.asked) == 2 == results(report)["file"]["attempts"]
    assert statuses(report)["risk"] == "blocked"


@each_pattern
@pytest.mark.parametrize(("status", "cls"), [(404, "not_found"), (401, "auth")])
def test_what_another_try_can_not_mend_is_asked_once(
    pattern: str, status: int, cls: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = [status]
    model_server.reply(plan(*steps()), *in_words(pattern, "There is no such applicant."))
    report = run(pattern, registry, limits={**ONCE, "retries": 2})
    assert results(report)["file"]["failure"]["cls"] == cls
    assert registry.asked == ["A7"]


@each_pattern
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
    assert statuses(report) == {"file": "degraded", "risk": "failed"}
    assert results(report)["file"]["failure"]["cls"] == "timeout"
    assert results(report)["risk"]["attempts"] == 0 and results(report)["risk"]["output"] is None
    assert any("file" in line and "send_mail" in line for line in report["writes"])
    assert any("file" in risk for risk in report["risks"])


@each_pattern
def test_the_notice_is_a_write_that_waits_for_its_person_and_is_sent_once(
    pattern: str, model_server: ModelServer, registry: Registry, mail_server: MailServer
) -> None:
    registry.answers = ["late", "late"]
    late: dict[str, Any] = {"timeout": LATE, "fallback": {"tool": "send_mail", "args": NOTICE}, "accept": []}
    file = steps(**late)[0]
    model_server.reply(plan(file), *after_planning(pattern, "The team was told."))
    context = {"tools": tools(registry), "smtp": mail_server.url, "limits": ONCE}
    graph = load(pattern, context=context, checkpointer=InMemorySaver())
    state = graph.invoke({"task": TASK}, THREAD)
    (ask,) = state["__interrupt__"]
    assert state["report"]["stop"]["reason"] == "needs_approval" and mail_server.messages == []
    assert ask.value["action_requests"][0]["args"] == NOTICE
    report = graph.invoke(Command(resume={ask.id: {"decisions": [{"type": "approve"}]}}), THREAD)["report"]
    assert report["stop"]["reason"] == "done" and statuses(report) == {"file": "degraded"}
    assert any(risk.startswith("step file: the fallback send_mail stands in") for risk in report["risks"])
    assert len(mail_server.messages) == 1


@pytest.mark.parametrize("pattern", REPLANNING)
def test_after_a_time_out_the_next_version_of_the_plan_goes_on_from_what_is_there(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = ["late"]
    learned = [reflection("give the registry more time", "argument")] if pattern == "self_reflection" else []
    model_server.reply(
        plan(*steps(timeout=LATE)), *learned, plan(*steps(timeout=4)), *after_planning(pattern, "Low risk.")
    )
    report = run(pattern, registry, limits={"retries": 0})
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {"file": "failed", "risk": "blocked", "file_v2": "done", "risk_v2": "done"}
    assert "(timeout)" in report["plans"][1]["reason"]
    assert report["plans"][1]["change"]["changed"] == ["file_v2", "risk_v2"]
    assert results(report)["risk_v2"]["output"]["risk_level"] == "low"


@each_pattern
def test_a_task_that_names_no_applicant_is_given_back_with_the_planners_words_and_nothing_runs(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    model_server.reply(impossible("which applicant? the task names none"))
    report = run(pattern, registry)
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("failure", "cannot_be_done")
    assert report["stop"]["message"] == "which applicant? the task names none"
    assert "which applicant?" in report["answer"]
    assert registry.asked == [] and report["results"] == []


@each_pattern
def test_a_tool_that_lacks_an_input_pauses_the_run_with_its_question(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    model_server.reply(plan(*steps(applicant=" ")))
    report = run(pattern, registry, limits={"retries": 2})
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
    assert "whose file is it?" in report["stop"]["message"] and report["stop"]["evidence"] == ["file"]
    assert results(report)["file"]["failure"]["kind"] == "input"
    assert results(report)["file"]["attempts"] == 1 and registry.asked == []
    assert len(report["plans"]) == 1  # what only a person knows is not planned around


@each_pattern
def test_a_step_whose_contract_says_ask_pauses_the_run_when_the_registry_is_late(
    pattern: str, model_server: ModelServer, registry: Registry
) -> None:
    registry.answers = ["late"]
    model_server.reply(plan(*steps(timeout=LATE, on_failure="ask")))
    report = run(pattern, registry)
    assert (report["stop"]["kind"], report["stop"]["reason"]) == ("pause", "needs_input")
    assert "no result within" in report["stop"]["message"]
    assert statuses(report) == {"file": "failed", "risk": "blocked"}
    assert len(report["plans"]) == 1 and report["answer"]
