"""What only a person can give, asked inside the run: an input that a call lacks, and what a step says to ask about.

The id of a question follows from the call and from how often it was asked about, so what was answered is never asked
twice, in whatever version of the plan the same call stands. A run that is not kept can't wait: there the failure stays.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nodes.answers import Answer
from nodes.asking import Request, failure_question, result_question
from nodes.calls import Call, Outcome
from nodes.decisions import decided
from nodes.run import Run
from nodes.standing_in import call_or_stand_in
from state.plan import Step, digest
from state.result import UNMADE, Check, Failure, Result, failure
from tools.tool import Tool

NOT_ASKED = ("rejected", "policy", "budget", "unknown_outcome", "stale", "upstream")
"""Failures that no word of a person may paper over, or that have their own way to one."""


def count_asked(answers: Mapping[str, Any]) -> int:
    """How many questions a person has answered in this request."""
    return sum(answer.get("kind") == "question" for answer in answers.values())


def may_ask(run: Run, answers: Mapping[str, Any], identity: str) -> bool:
    """Whether the run can wait and the limit of questions leaves room for this one."""
    left = run.limits.questions - count_asked(answers) - len(run.asked - {identity})
    if not run.resumable or left < 1:
        return False
    run.asked.add(identity)
    return True


async def call_or_ask(planned: Call, run: Run) -> Outcome:
    """The outcome of the call as a person's earlier answers have made it; what it still lacks is asked."""
    known, ended, nth = _as_answered(planned, run)
    if ended:
        return ended
    outcome = await call_or_stand_in(known, run)
    reason = outcome.failure
    if outcome.status != "failed" or reason is None or not _needs_person(planned.step, reason):
        return outcome
    identity = _identity(run, known, nth)
    if not may_ask(run, planned.answers, identity):
        return outcome
    _tell(run, planned.step["id"], planned.tool.name, reason)
    return replace(outcome, status="waiting", request=_question(identity, known, reason, outcome.lacks))


def _needs_person(step: Step, reason: Failure) -> bool:
    if reason["cls"] in NOT_ASKED or step["on_failure"] == "fallback":
        return False
    return reason["cls"] == "missing_input" or step["on_failure"] == "ask"


def _as_answered(planned: Call, run: Run) -> tuple[Call, Outcome | None, int]:
    """The call with what a person said about it, or what that makes of it; and how often this call was asked about."""
    asked: Counter[str] = Counter()
    while True:
        mark = planned.fingerprint
        answer = planned.answers.get(_identity(run, planned, asked[mark]))
        if answer is None:
            return planned, None, asked[mark]
        asked[mark] += 1
        if answer["type"] == "reject":
            return planned, _left(planned, answer), asked[mark]
        if answer["type"] == "respond" and not answer.get("argument"):
            return planned, Outcome("done", planned.args, answer["value"], note=UNMADE), asked[mark]
        planned = replace(planned, args=_changed(planned, answer))


def _changed(planned: Call, answer: Answer) -> dict[str, Any]:
    if answer["type"] == "edit":
        return dict(answer["args"])
    return planned.args | ({answer["argument"]: answer["value"]} if answer["type"] == "respond" else {})


def _left(planned: Call, answer: Answer) -> Outcome:
    """A failed outcome that keeps its question: nobody asks again."""
    why = f"{answer['failure']['message']}; a person left it{': ' if answer.get('message') else ''}"
    reason = failure(answer["failure"]["cls"], why + answer.get("message", ""))
    request = failure_question("", planned.step["id"], planned.tool, planned.args, reason, answer.get("argument", ""))
    return Outcome("failed", planned.args, failure=reason, request=request)


def _identity(run: Run, planned: Call, nth: int) -> str:
    return digest([run.request["id"], "question", planned.tool.name, planned.args, nth])


def _question(identity: str, planned: Call, reason: Failure, lacks: str) -> Request:
    argument = _argument(planned, lacks) if reason["cls"] == "missing_input" else ""
    return failure_question(identity, planned.step["id"], planned.tool, planned.args, reason, argument)


def _argument(planned: Call, lacks: str) -> str:
    """The argument that is missing: the one that the tool named, else the only one that is empty."""
    known = planned.tool.args_schema.get("properties", {})
    empty = [name for name in known if _is_empty(planned.args.get(name))]
    return lacks if lacks in known else empty[0] if len(empty) == 1 else ""


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def ask_about(record: Result, output: Any, tool: Tool, answers: Mapping[str, Any], run: Run) -> Any:
    """The output of a step whose result was not accepted, after a person's word about it; asks where there is none."""
    identity = digest([run.request["id"], "result", record["tool"], record["call"], record["digest"] or digest(output)])
    answer, reason = answers.get(identity), record["failure"]
    if reason is None or (answer is None and not may_ask(run, answers, identity)):
        return output
    if answer is None or answer["type"] == "reject":
        record["requests"].append(result_question(identity, record["step"], tool, record["args"], reason["message"]))
        if answer is None:
            record["status"] = "waiting"
            _tell(run, record["step"], record["tool"], reason)
        return output
    gave = answer["type"] == "respond"
    record["status"], record["failure"] = "done", None
    record["note"] = "a person gave the result" if gave else "a person took the result as it is"
    record["checks"] = [_by_person(check, record["note"]) for check in record["checks"]]
    return answer["value"] if gave else output


def _by_person(check: Check, note: str) -> Check:
    if check["outcome"] != "failed":
        return check
    return {**check, "outcome": "passed", "evidence": f"{check['evidence']}; {note}", "by": "person"}


def _tell(run: Run, step: str, who: str, reason: Failure) -> None:
    decided(run, "ask", who, reason["cls"], reason["message"], step=step)
