"""What the scripted model says to whoever asks: our roles, tool-calling agents, and the tutorials re-created here.

It knows nothing but the request: the job from the mark in the task, what has been done from the results in the prompt.
A reply is text in pieces, which a stream spreads evenly over the time of the call, or calls of the tool.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.workloads import Job, given_in, job_in

Body = Mapping[str, Any]
_ROLE = re.compile(r"Role: (\w+)")
_ONE_STEP = re.compile(r"You are to do step 1: work\((\d+); ([^)]*)\)")


@dataclass(frozen=True)
class Said:
    """One reply; `who` was asked, for the count of calls by role."""

    who: str
    pieces: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of the text."""
        return "".join(self.pieces)


def said_to(body: Body) -> Said:
    """The reply to a request; raises `ValueError` for one that nobody here makes."""
    text = "\n".join(_text_of(message) for message in body["messages"])
    tools = [tool["function"]["name"] for tool in body.get("tools") or []]
    if "work" in tools and (one := _ONE_STEP.search(text)):
        return _one_step(int(one[1]), one[2], body)
    if (job := job_in(text)) is None:
        raise ValueError("the request names no job")
    values = given_in(text)
    role = _ROLE.search(text)
    who = role[1] if role else _schema_name(body) or ("agent" if tools else "")
    if who not in _REPLIES:
        raise ValueError(f"nobody has a reply for {who!r}")
    return Said(who, *_REPLIES[who](job, values))


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    calls = [call["function"]["arguments"] for call in message.get("tool_calls") or []]
    return "\n".join([*(part.get("text", "") for part in parts), *calls])


def _schema_name(body: Body) -> str:
    return str(((body.get("response_format") or {}).get("json_schema") or {}).get("name", ""))


def _evidence(job: Job, step: int, values: Mapping[int, int]) -> str:
    return " ".join(f"v{other}={values[other]}." for other in job.needs[step])


def _ready(job: Job, values: Mapping[int, int]) -> list[int]:
    return [step for step, needed in job.needs.items() if step not in values and values.keys() >= set(needed)]


def _plan(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    """A plan of ours; each piece ends with a step."""
    drafts = [
        {"id": f"s{step}", "tool": "work",
         "args": {"step": step, "evidence": " ".join(f"${{steps.s{other}}}" for other in job.needs[step])}}
        for step in job.needs
    ]  # fmt: skip
    return (_listed('{"steps": [', [json.dumps(draft) for draft in drafts], "]}"),)


def _evidence_plan(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    lines = [f"Plan: do it. #E{n} = Work[{n}; {' '.join(f'#E{other}' for other in job.needs[n])}]\n" for n in job.needs]
    return (lines,)


def _compiled_plan(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    lines = [f'{n}. work({n}, "{" ".join(f"${other}" for other in job.needs[n])}")\n' for n in job.needs]
    return ([*lines, f"{job.steps + 1}. join()\n"],)


def _listed(begin: str, items: list[str], end: str) -> list[str]:
    pieces = [item + ", " for item in items[:-1]] + [items[-1] + end]
    return [begin + pieces[0], *pieces[1:]]


def _task_list(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    """What is left, as sentences, for the tutorial's planner."""
    left = [f"work({step}; {_evidence(job, step, values) if values.keys() >= set(needed) else 'what came before'})"
            for step, needed in job.needs.items() if step not in values]  # fmt: skip
    return ([json.dumps({"steps": left})],)


def _next_act(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    answer = job.answer_from(values)
    action = {"response": answer} if answer else json.loads(_task_list(job, values)[0][0])
    return ([json.dumps({"action": action})],)


def _agent(job: Job, values: Mapping[int, int]) -> tuple[list[str], list[dict[str, Any]]]:
    """Calls for every step that is ready, then the answer."""
    ready = _ready(job, values)
    calls = [{"step": step, "evidence": _evidence(job, step, values)} for step in ready]
    return ([], calls) if calls else ([_answer(job, values)[0][0]], [])


def _turn(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    """One call a turn, for our reasoner."""
    move: dict[str, Any] = {"answer": job.answer_from(values)}
    if ready := _ready(job, values)[:1]:
        move = {"tool": "work", "args": {"step": ready[0], "evidence": _evidence(job, ready[0], values)}}
    return ([json.dumps({"thought": "", **move})],)


def _answer(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    return ([job.answer_from(values) or "ANSWER=missing"],)


def _grade(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    point = {"criterion": "the task is answered", "outcome": "passed", "evidence": "ANSWER"}
    good = {"checks": [point], "completeness": 9, "accuracy": 9, "quality": 9, "accepted": True, "problems": []}
    return ([json.dumps(good)],)


def _look(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    return ([json.dumps({"verdict": "continue"})],)


def _join(job: Job, values: Mapping[int, int]) -> tuple[list[str]]:
    return ([json.dumps({"thought": "", "action": {"response": job.answer_from(values) or "ANSWER=missing"}})],)


def _one_step(step: int, evidence: str, body: Body) -> Said:
    """The tutorial's inner agent: one call, then what came of it."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Said("inner agent", [f"v{step}={given_in(_text_of(last))[step]}. done"])
    return Said("inner agent", calls=[{"step": step, "evidence": evidence}])


_REPLIES: dict[str, Callable[[Job, Mapping[int, int]], Any]] = {
    "planner": _plan, "reasoner": _turn, "answerer": _answer, "checker": _grade, "reflector": _look,
    "agent": _agent, "TaskList": _task_list, "NextAct": _next_act, "Joined": _join,
    "evidence_planner": _evidence_plan, "compiled_planner": _compiled_plan, "solver": _answer,
}  # fmt: skip
