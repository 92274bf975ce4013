"""The public task sets by name, with how each is judged, and which patterns can't be tried on which."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Literal

from evals import bfcl, conditional, fewshots, gsm8k, mathqa, mbpp, nestful, nestools, planbench, tau
from evals.answers import number_is
from evals.nestful_defects import STRICT, STRUCTURE
from evals.tasks import Dialogue, Task
from evals.truth import mended
from graphs import names, plain_ways
from state.errors import InputError

NO_TOOLS = ("direct", "chain_of_thought", "plan_and_solve", "reflection")
"""Patterns that call no tool of a task."""
NEAR = 1e-3
"""How far an answer of MathQA may be off, as a share: people round."""
Judged = Literal["calls", "answer", "tests", "own"]


@dataclass(frozen=True)
class TaskSet:
    """Tasks that are judged in one way: by the calls that were made, by the answer, by tests of a program, by the user.

    `recorded`: what a real model once said is known for each of them.
    """

    name: str
    dialogues: tuple[Dialogue, ...]
    judged: Judged
    recorded: bool = False

    def tasks(self) -> list[Task]:
        """Every task, in worlds that are as new."""
        return [task for dialogue in self.dialogues for task in dialogue.begin()]

    def sample(self, number: int | None, seed: int) -> "TaskSet":
        """So many of it, the same ones for the same seed; more of them are those and others."""
        order = list(range(len(self.dialogues)))
        Random(seed).shuffle(order)
        return replace(self, dialogues=tuple(self.dialogues[place] for place in sorted(order[:number])))


def alone(task: Task) -> Dialogue:
    """A task that follows no other."""
    return Dialogue(task.id, lambda: (task,))


def _each(tasks: Iterable[Task], left_out: Iterable[str] = ()) -> tuple[Dialogue, ...]:
    out = set(left_out)
    return tuple(alone(task) for task in tasks if task.id not in out)


def _by_calls(name: str, tasks: Iterable[Task], left_out: Iterable[str] = ()) -> TaskSet:
    """Right is what is there in the end: a run that went wrong and was mended is right."""
    return TaskSet(name, _each(mended(list(tasks)), left_out), "calls")


def _gsm8k() -> TaskSet:
    unsound = [f"gsm8k-{row['id']}" for row in gsm8k.rows() if not gsm8k.is_sound(row)]
    return TaskSet("gsm8k", _each(gsm8k.tasks(), unsound), "answer")


def _mathqa() -> TaskSet:
    judged = (replace(task, judge=number_is(task.answer(), within=NEAR)) for task in mathqa.tasks())
    return TaskSet("mathqa", _each(judged), "answer")


def _nestful(*, strict: bool) -> TaskSet:
    tasks = nestful.tasks(strict=strict)
    name = "nestful_strict" if strict else "nestful"
    return _by_calls(name, tasks, {*STRUCTURE, *STRICT} if strict else STRUCTURE)


def _bfcl() -> TaskSet:
    return TaskSet("bfcl", tuple(one for one in bfcl.dialogues() if one.id not in bfcl.DEFECTIVE), "calls")


def _conditional(place: int) -> TaskSet:
    """One world of each pair; what is there to be done follows from what is looked up."""
    return TaskSet(f"conditional_{'ab'[place]}", _each(pair.worlds[place] for pair in conditional.pairs()), "calls")


SETS: Mapping[str, Callable[[], TaskSet]] = {
    "gsm8k": _gsm8k,
    "mathqa": _mathqa,
    "nestful": partial(_nestful, strict=False),
    "nestful_strict": partial(_nestful, strict=True),
    "nestools": lambda: _by_calls("nestools", nestools.tasks()),
    "bfcl": _bfcl,
    "bfcl_whole": lambda: TaskSet("bfcl_whole", tuple(bfcl.wholes()), "calls"),
    "tau": lambda: _by_calls("tau", tau.tasks(), tau.DEFECTIVE),
    "rewoo": lambda: _by_calls("rewoo", fewshots.tasks("rewoo")),
    "llmcompiler": lambda: _by_calls("llmcompiler", fewshots.tasks("llmcompiler")),
    "planbench": lambda: TaskSet("planbench", _each(planbench.tasks()), "calls", recorded=True),
    "mbpp": lambda: TaskSet("mbpp", _each(mbpp.tasks()), "tests", recorded=True),
    "conditional_a": partial(_conditional, 0),
    "conditional_b": partial(_conditional, 1),
}
"""AsyncHow is not among them: its plans take years, and are tried on a virtual clock by the tests."""


def public(name: str) -> TaskSet:
    """A public set, without the tasks that nobody can do; raises `InputError` for an unknown one."""
    if name not in SETS:
        raise InputError(
            f"there is no task set {name!r}; there are: {', '.join(SETS)}; your own are a .yaml or .jsonl file"
        )
    return SETS[name]()


def patterns_named(given: Iterable[str]) -> tuple[str, ...]:
    """These patterns and plain ways, all of them where none is named, in the order of the table."""
    known, chosen = (*plain_ways(), *names()), tuple(given)
    for name in chosen:
        if name not in known:
            raise InputError(f"there is no pattern {name!r}; there are: {', '.join(known)}")
    return tuple(name for name in known if name in chosen) if chosen else known
