"""STRIPS by its own rules (Fikes and Nilsson 1971): whether a plan of actions can be done and ends in the goal.

Leaves out everything beyond `:strips`: types, negative preconditions, quantifiers, costs. They are refused by name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Atom = tuple[str, ...]
_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";.*")


class Effect(NamedTuple):
    """What an action adds to the state and takes from it."""

    adds: frozenset[Atom]
    deletes: frozenset[Atom]


@dataclass(frozen=True)
class Action:
    """An action over variables."""

    name: str
    variables: tuple[str, ...]
    needs: frozenset[Atom]
    effect: Effect


@dataclass(frozen=True)
class Problem:
    """A domain's actions with the objects, the first state and the goal of one problem."""

    actions: Mapping[str, Action]
    objects: frozenset[str]
    start: frozenset[Atom]
    goal: frozenset[Atom]


class Verdict(NamedTuple):
    """Whether a plan is valid; else the number of the action that fails (0: the goal), and what does not hold."""

    valid: bool
    step: int = 0
    unmet: tuple[Atom, ...] = ()


def read_problem(domain: str, problem: str) -> Problem:
    """Both texts; raises `ValueError` for what is not STRIPS."""
    _refuse_more_than_strips(domain)
    of_domain, of_problem = _sections(domain), _sections(problem)
    actions = [_action(one) for one in of_domain if one[0] == ":action"]
    parts = {one[0]: one[1:] for one in of_problem}
    return Problem(
        {action.name: action for action in actions}, frozenset(parts[":objects"]),
        frozenset(tuple(atom) for atom in parts[":init"]), _atoms(parts[":goal"][0]),
    )  # fmt: skip


def judge(problem: Problem, plan: Sequence[str]) -> Verdict:
    """The verdict on actions such as `(stack a b)`, one after the other; raises `ValueError` for an unknown one."""
    state = problem.start
    for number, text in enumerate(plan, 1):
        action, bound = _bound(problem, text)
        if unmet := _put(action.needs, bound) - state:
            return Verdict(False, number, tuple(sorted(unmet)))
        state = state - _put(action.effect.deletes, bound) | _put(action.effect.adds, bound)
    unmet = problem.goal - state
    return Verdict(not unmet, 0, tuple(sorted(unmet)))


def _bound(problem: Problem, text: str) -> tuple[Action, dict[str, str]]:
    name, *given = _parsed(text)
    if name not in problem.actions:
        raise ValueError(f"{text}: there is no action {name!r}; there are {sorted(problem.actions)}")
    action = problem.actions[name]
    if len(given) != len(action.variables) or not problem.objects.issuperset(given):
        raise ValueError(f"{text}: {name} takes {len(action.variables)} of the objects {sorted(problem.objects)}")
    return action, dict(zip(action.variables, given, strict=True))


def _put(atoms: frozenset[Atom], bound: Mapping[str, str]) -> frozenset[Atom]:
    return frozenset(tuple(bound.get(word, word) for word in atom) for atom in atoms)


def _action(section: list[Any]) -> Action:
    parts = dict(zip(section[2::2], section[3::2], strict=True))
    effects = _conjunction(parts[":effect"])
    deletes = frozenset(tuple(one[1]) for one in effects if one[0] == "not")
    adds = frozenset(tuple(one) for one in effects if one[0] != "not")
    return Action(section[1], tuple(parts[":parameters"]), _atoms(parts[":precondition"]), Effect(adds, deletes))


def _atoms(expression: list[Any]) -> frozenset[Atom]:
    """A conjunction of plain facts."""
    found = _conjunction(expression)
    for atom in found:
        if not all(isinstance(word, str) for word in atom) or atom[0] in ("or", "forall", "exists", "imply"):
            raise ValueError(f"{atom} is no plain fact; only STRIPS is read")
    return frozenset(tuple(atom) for atom in found)


def _conjunction(expression: list[Any]) -> list[Any]:
    return expression[1:] if expression[:1] == ["and"] else [expression] if expression else []


def _refuse_more_than_strips(domain: str) -> None:
    asked = next((one[1:] for one in _sections(domain) if one[0] == ":requirements"), [":strips"])
    if more := sorted(set(asked) - {":strips"}):
        raise ValueError(f"the domain asks for {', '.join(more)}; only :strips is read")


def _sections(text: str) -> list[Any]:
    """What stands in `(define ...)`."""
    read: list[Any] = _parsed(text)
    return read[1:]


def _parsed(text: str) -> Any:
    """One expression in brackets as nested lists, in small letters, as PDDL doesn't tell them apart."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) > 1:
            stack[-2].append(stack.pop())
        elif not stack[0]:  # after the end one bracket too many is usual: every problem of PlanBench has it
            raise ValueError("a bracket closes what was never opened")
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], list):
        raise ValueError(f"that is not one whole expression in brackets: {text[:60]!r}")
    return stack[0][0]
