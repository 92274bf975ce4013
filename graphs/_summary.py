"""A report as text for people; programs read it as JSON."""

import json
from collections.abc import Iterable
from typing import Any

from graphs._words import as_json, count, one_line, visible
from state.plan import Plan, needs
from state.report import Estimate, Report
from state.result import why
from state.usage import Usage

_OFFLINE = "offline planner"
"""How the models are called where there is no language model."""


def summary(report: Report) -> str:
    """The answer, why it ended, what is missing, what was written, what it cost, and by which models."""
    ended = report["stop"]
    lines = [*_answer(report), *_chosen(report), f"stop: {ended['reason']}: {one_line(ended['message'], 1000)}"]
    lines += _list("missing", _missing(report))
    lines += _list("writes", [_with_args(line, report) for line in report["writes"]])
    lines += _list("risks", report["risks"])
    lines += _list("people", report["people"])
    lines += [used(report), models(report["models"])]
    lines += _list("lessons", lesson_lines(report))
    lines += _list("notes", report["notes"])
    return "\n".join(lines)


def _missing(report: Report) -> list[str]:
    """What is missing, without the reasons that the end of the run has said."""
    said = report["stop"]["message"]
    known = [reason for result in report["results"] if (reason := why(result)) and reason.rstrip(".") in said]
    reasons = [f": {reason}" for reason in known]
    lines = [
        next((line.removesuffix(one) for one in reasons if line.endswith(one)), line) for line in report["missing"]
    ]
    return [line for line in lines if line != f"the task: {said}"]


def _without(endings: Iterable[str], line: str) -> str:
    return next((line.removesuffix(one) for one in endings if line.endswith(one)), line)


def _with_args(line: str, report: Report) -> str:
    """What was written, with the arguments of the call."""
    args = next((result["args"] for result in report["results"] if line.startswith(f"{result['step']}: ")), {})
    return f"{line} {one_line(as_json(args), 200)}" if args else line


def _chosen(report: Report) -> list[str]:
    chosen = report.get("chosen")
    return [f"pattern: {chosen['pattern']}: {one_line(chosen['reason'], 500)}"] if chosen else []


def plan_summary(report: Report) -> str:
    """What a dry run found: the checked plan, what it would write, what it would take."""
    ended = report["stop"]
    lines = [line for plan in report["plans"][-1:] for line in _plan(plan)]
    lines += [*_chosen(report), f"stop: {ended['reason']}: {one_line(ended['message'], 1000)}"]
    if report["estimate"]:
        lines += _list("would write", report["estimate"]["writes"]) or ["would write: nothing"]
        lines.append(estimated(report["estimate"], offline=is_offline(report)))
    return "\n".join([*lines, used(report), models(report["models"])])


def open_questions(questions: Iterable[dict[str, Any]]) -> list[str]:
    """What a person has to answer, each with the id that --answer takes."""
    lines: list[str] = []
    for question in questions:
        action, about = question["action_requests"][0], visible(question["step"] or "run")
        call = f"{action['name']} {one_line(as_json(action['args']), 200)}"
        said = one_line(action["description"], 300) if question["kind"] in ("plan", "question") else call
        lines.append(f"  {question['id']}  {about}: {said} ({question['kind']})")
        if problem := question.get("problem"):
            lines.append(f"    the last answer did not do: {one_line(problem, 1000)}")
    return ["open questions:", *lines] if lines else []


def models(named: dict[str, str]) -> str:
    """The models by role; one name where all are the same."""
    names = set(named.values())
    if len(names) == 1:
        return f"model: {visible(names.pop())}"
    return f"models: {', '.join(f'{role} {visible(name)}' for role, name in named.items())}"


def _answer(report: Report) -> list[str]:
    answer = answer_alone(report)
    if answer is None:
        return []
    return [visible(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)), ""]


def answer_alone(report: Report) -> Any:
    """The answer; one by code without what is said below it anyway: why the run ended, and what is missing."""
    answer = report["answer"]
    if not isinstance(answer, str) or report["answered_by"] != "code":
        return answer
    if report["missing"]:  # the last lines, with a heading above them
        listed = "".join(f"\n- {line}" for line in report["missing"])
        answer = answer.removesuffix(listed).rpartition("\n")[0] if answer.endswith(listed) else answer
    head, found, rest = answer.partition(f"\n{report['stop']['message']}")
    return head + rest if found and rest[:1] in ("", "\n") else answer


def lesson_lines(report: Report) -> list[str]:
    """The lessons that the run was told, and what it learned; reports of older versions have none."""
    return [f"{one['id']} {one['outcome']}: {one['strategy']}" for one in report.get("lessons", [])]


def _list(head: str, items: list[str]) -> list[str]:
    return [f"{head}:", *(f"  - {one_line(item, 500)}" for item in items)] if items else []


def _plan(plan: Plan) -> list[str]:
    lines = [f"plan {plan['version']}: {one_line(plan['goal'])}{worth(plan)}"]
    for step in plan["steps"]:
        after = f" (after {', '.join(needs(step))})" if needs(step) else ""
        mark = " [write]" if step["effect"] == "write" else ""
        lines.append(f"  {visible(step['id'])}: {visible(step['tool'])} {one_line(as_json(step['args']))}{after}{mark}")
    return lines


def worth(plan: Plan) -> str:
    """The value of a version in words; empty if it has none."""
    value = plan["value"]
    if value is None:
        return ""
    parts = f"utility {value['utility']:g}, risk {value['risk']:g}, cost {value['cost']:g}"
    return f" (value {value['value']:g}: {parts})"


def is_offline(report: Report) -> bool:
    """Whether no language model had any part in it."""
    return all(name.startswith(_OFFLINE) for name in report["models"].values())


def used(report: Report) -> str:
    """Calls, tokens, cost and time in one line."""
    usage = report["usage"]
    parts = [
        count(usage["model_calls"], _call(is_offline(report))),
        count(usage["tool_calls"], "tool call"),
        _known(usage["tokens"], usage["unknown_tokens"], usage["model_calls"], "tokens") + _cached(usage),
        _known(usage["money"], usage["unknown_money"], usage["model_calls"], "cost"), f"{usage['seconds']:.1f} s",
    ]  # fmt: skip
    return f"usage: {', '.join(parts)}"


def _call(offline: bool) -> str:
    return f"{_OFFLINE} call" if offline else "model call"


def _cached(usage: Usage) -> str:
    """How many tokens came from the provider's cache, where a server says so."""
    cached = sum(role["cached"] or 0 for role in usage["roles"].values())
    return f" ({cached:,} of them cached)" if cached else ""


def _known(amount: float, unknown: int, calls: int, what: str) -> str:
    """A sum, and for how many calls it is not known."""
    said = f"{what} {amount:,.6g}" if what == "cost" else f"{amount:,} {what}"
    if not unknown:
        return said
    return f"{what} unknown" if unknown >= calls else f"{said} and unknown for {count(unknown, 'call')}"


def estimated(estimate: Estimate, *, offline: bool = False) -> str:
    """What running a checked plan would take, in one line."""

    def told(value: float | None, word: str) -> str:
        return f"{word}s unknown" if value is None else count(value, word)

    seconds = "time unknown" if estimate["seconds"] is None else f"at most {estimate['seconds']:.0f} s of tools"
    cost = "cost unknown" if estimate["money"] is None else f"cost {estimate['money']:.6g}"
    calls = f"{told(estimate['tool_calls'], 'tool call')}, {told(estimate['model_calls'], _call(offline))}"
    return f"would take: {calls}, {told(estimate['tokens'], 'token')}, {cost}, {seconds}"
