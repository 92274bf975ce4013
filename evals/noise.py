"""A noisy oracle: it answers by gold, and makes faults on purpose. Simulated: it says how patterns take faults.

Which faults it makes follows from task, pattern, step, attempt and a seed, whatever the schedule. The attempt is known
by what the prompt tells of earlier ones, and by how often the very same was asked; so it works behind a server as well.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from evals.critics import check, newest_answer, reflect, wrong_ones
from evals.drafts import DRAFTS
from evals.faults import MALFORMED, written
from evals.gold import VERSION, as_evidence, asks_for_evidence, gold_in_order, renamed
from evals.lacking import says_lacking
from evals.oracle import ROLES, Broken, OracleModel, once_more, turns_told
from evals.rates import Noise
from evals.tasks import Task, by_text, read_json
from state.json_text import from_json
from state.plan import StepDraft, digest
from state.result import FINISHED

_TOLD = ("failed", "conflicts", "review", "lessons", "findings", "reply")
"""What a prompt says of earlier attempts, and nothing else of it does."""
_SAID = re.compile(r'^\{"thought": .*\}$', re.MULTILINE)
"""A turn of its own as a reasoner is shown it."""
_ABOUT = "gold step "
Noisily = Callable[[Noise, Task, Mapping[str, Any], str], Any]
"""What a role says under a noise."""
Said = tuple[str, str, bool]
"""A turn that ran: what it was about, the id of its step, and whether it gave a result."""


def noisy(tasks: Sequence[Task], *, cases: str | Path | None = None, **how: Any) -> OracleModel:
    """A model for these tasks that is as wrong as `Noise` says, whose fields `how` names.

    `cases` is a folder of recorded cases, with the malformed ones in `malformed`; else the one that
    FORETHOUGHT_CASES names.
    """
    noise, asked = Noise(**{"texts": malformed(cases), **how}), Asked()
    roles = {name: partial(_say, noise, asked, say) for name, say in _SAYS.items()}
    return OracleModel(known=by_text(tasks), roles={**ROLES, **roles}, model_name="noisy")


class Asked:
    """Counts how often the same was asked: a model is asked again for another reply, and gives one."""

    def __init__(self) -> None:
        self._often: Counter[str] = Counter()
        self._lock = Lock()

    def before(self, prompt: str) -> int:
        """How often this prompt came before."""
        with self._lock:
            self._often[digest(prompt)] += 1
            return self._often[digest(prompt)] - 1


def _say(noise: Noise, asked: Asked, say: Noisily, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    again = asked.before(prompt) + fences.get("attempt", 1) - 1
    return say(replace(noise, again=again), task, fences, prompt)


def malformed(cases: str | Path | None = None) -> tuple[str, ...]:
    """The recorded malformed replies, in order of name; none where nobody named their folder."""
    folder = Path(cases or os.environ.get("FORETHOUGHT_CASES") or "not named") / "malformed"
    return tuple(read_json(path)["input"] for path in sorted(folder.glob("*.json")))


def _told(fences: Mapping[str, Any]) -> list[Any]:
    return [[name, fences[name]] for name in _TOLD if fences.get(name)]


# --- planning


def _plan(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    """What is left of the gold plan, with faults; results that a lesson calls wrong are got anew."""
    if lacking := says_lacking(task, fences):
        return lacking
    told, seen = _told(fences), _seen(fences)
    done = _done(fences)
    left = [step for step in task.gold if step.id not in done]
    if not left:
        return {"steps": [], "impossible": "every step of the gold plan is done"}
    faults = [(step, noise.fault(task, step, told)) for step in left]
    steps = written(faults)
    version = 1 + max(map(_version, seen), default=0)
    names = {step.id: f"{step.id}_v{version}" for step in steps} if version > 1 else {}
    steps = [_named(step, {**done, **names}, names) for step in steps]
    if asks_for_evidence(prompt):
        steps = as_evidence(steps)
    plan = {"goal": "the task is done", "steps": [step.model_dump(exclude_defaults=True) for step in steps]}
    broken = any(fault.kind == MALFORMED for _, fault in faults)
    return noise.broken(task, told, plan) if broken else plan


def _seen(fences: Mapping[str, Any]) -> list[str]:
    """The ids of steps that have run, as far as a planner is told of them."""
    return [*(fences.get("results") or {}), *(one["id"] for one in fences.get("failed") or [])]


def _version(name: str) -> int:
    found = VERSION.search(name)
    return int(found[1]) if found else 1


def _done(fences: Mapping[str, Any]) -> dict[str, str]:
    """By gold id, the newest result that no lesson calls wrong."""
    wrong = wrong_ones(fences.get("lessons") or [])
    good = [name for name in fences.get("results") or {} if name not in wrong]
    return {VERSION.sub("", name): name for name in sorted(good, key=_version)}


def _named(step: StepDraft, others: Mapping[str, str], own: Mapping[str, str]) -> StepDraft:
    return renamed(step, others).model_copy(update={"id": own.get(step.id, step.id)})


# --- reasoning in turns


def _reason(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    """The next call that is not done yet, perhaps with a fault; the answer when none is left."""
    turns, told = _turns(fences, prompt), _told(fences)
    wrong = wrong_ones(fences.get("lessons") or [])
    done = {about: name for about, name, finished in turns if finished and name not in wrong}
    for step in gold_in_order(task.gold):
        failed = [fences[name] for about, name, finished in turns if about == step.id and not finished]
        redone = fences.get("findings") and any(about == step.id and well for about, _, well in turns)
        if step.id in done or redone:  # told that a call was made before, it takes the result that there is
            continue
        if said := _turn(noise, task, step, [*told, *failed], done, turns):
            return said if isinstance(said, Broken) else {**said, **once_more(fences)}
    if not task.gold:
        return {"thought": "", "impossible": "the gold plan has no step"}
    return {"thought": "every gold step is done", "answer": newest_answer(task, _views(fences))}


def _turn(
    noise: Noise, task: Task, gold: StepDraft, told: list[Any], done: Mapping[str, str], turns: Sequence[Said]
) -> Any:
    """The turn for a gold step, or None where it is skipped or nothing of it is left to do."""
    fault = noise.fault(task, gold, told)
    tried = {about for about, _, _ in turns}
    for step in fault.steps:
        if step.id == gold.id or step.id not in tried:
            call = renamed(step, done)
            turn = {"thought": f"{_ABOUT}{step.id}", "tool": call.tool, "args": call.args}
            return noise.broken(task, told, turn) if fault.kind == MALFORMED else turn
    return None


def _turns(fences: Mapping[str, Any], prompt: str) -> list[Said]:
    """What its own turns were about, and what came of each."""
    said = [from_json(line) for line in _SAID.findall(prompt)]
    about = [str(one["thought"]).removeprefix(_ABOUT) for one in said if one.get("tool")]
    turns = zip(about, turns_told(fences), strict=False)
    return [(what, name, fences[name]["status"] in FINISHED) for what, name in turns]


def _views(fences: Mapping[str, Any]) -> dict[str, Any]:
    """The results that a role is shown, with what is known of each."""
    turns = {name: fences[name] for name in turns_told(fences)}
    return turns or fences.get("results") or {}


# --- the other roles


def _answer(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    return newest_answer(task, _views(fences))


def _check(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    if "answer" not in fences:
        return ROLES["checker"](task, fences, prompt)
    return check(task, fences, noise)


def _reflect(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    look = '"verdict"' in prompt.split("<task>", 1)[0]
    return reflect(task, fences, noise, look=look)


def _solve(noise: Noise, task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    """The result of one step in words, or with probability `p` another."""
    said = str(ROLES["executor"](task, fences, prompt))
    return f"about {said}" if noise.draw(task, fences["data"]["step"]) < noise.p else said


_SAYS: Mapping[str, Noisily] = {
    "planner": _plan, "reasoner": _reason, "answerer": _answer, "checker": _check, "reflector": _reflect,
    "executor": _solve, **DRAFTS,
}  # fmt: skip
