"""Evidence in conflict: two results that give the same quantity with different numbers.

A plan names the quantities (`measures` of a step); nothing is guessed from words. A number that more sources give
than any other stands, and the others are corrected; one against one stays open.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from state.conditions import SECONDS, evaluated
from state.plan import Plan
from state.result import FINISHED, Result
from state.time_bound import at_most

CLOSE = 0.005
"""Share by which two numbers may differ and still be the same: sources round."""


@dataclass(frozen=True)
class Conflict:
    """A quantity with its different numbers and the steps that give each; `stands` is empty while it is open."""

    quantity: str
    values: tuple[tuple[float, tuple[str, ...]], ...]

    @property
    def stands(self) -> float | None:
        """The number that most sources give, if there is one."""
        ranked = sorted(self.values, key=lambda one: -len(one[1]))
        return ranked[0][0] if len(ranked[0][1]) > len(ranked[1][1]) else None

    @property
    def wrong(self) -> tuple[str, ...]:
        """The steps whose number does not stand."""
        return tuple(step for value, steps in self.values if value != self.stands for step in steps)

    def __str__(self) -> str:
        told = ", ".join(f"{value:g} ({', '.join(steps)})" for value, steps in self.values)
        return f"{self.quantity}: {told}" + ("" if self.stands is None else f"; {self.stands:g} stands")


def conflicts(plans: Iterable[Plan], results: Mapping[str, Result]) -> list[Conflict]:
    """Every quantity for which results do not agree, also across versions of the plan."""
    named = {step["id"]: step.get("measures") for plan in plans for step in plan["steps"]}  # kept threads may have none
    found: dict[str, list[tuple[float, tuple[str, ...]]]] = {}
    with at_most(SECONDS):
        for name, measures in named.items():
            for quantity, expression in (measures or {}).items():
                value = _number(expression, results.get(name))
                if value is not None:
                    _add(found.setdefault(quantity, []), value, name)
    return [Conflict(quantity, tuple(values)) for quantity, values in found.items() if len(values) > 1]


def open_conflicts(plans: Iterable[Plan], results: Mapping[str, Result]) -> list[Conflict]:
    """Those that no third source has decided."""
    return [one for one in conflicts(plans, results) if one.stands is None]


def _number(expression: str, result: Result | None) -> float | None:
    """What a result says of a quantity; None where it says nothing that is a number."""
    if result is None or result["status"] not in FINISHED or result["artefact"]:
        return None
    output = result["output"]
    fields = {str(key): value for key, value in output.items()} if isinstance(output, Mapping) else {}
    try:
        value = evaluated(expression, {**fields, "output": output})
        return float(value.replace(",", "") if isinstance(value, str) else value)
    except (ValueError, TypeError):
        return None


def _add(values: list[tuple[float, tuple[str, ...]]], value: float, step: str) -> None:
    for place, (known, steps) in enumerate(values):
        if math.isclose(known, value, rel_tol=CLOSE):
            values[place] = (known, (*steps, step))
            return
    values.append((value, (step,)))
