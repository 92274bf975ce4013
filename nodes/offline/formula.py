"""Formulas as text with their precedence, so that parentheses stand exactly where the meaning needs them."""

from dataclasses import dataclass

ATOM, POWER, UNARY, TIMES, PLUS = 9, 8, 6, 5, 4
_LEVEL = {"+": PLUS, "-": PLUS, "*": TIMES, "/": TIMES, "%": TIMES}


@dataclass(frozen=True)
class Formula:
    """An expression; `level` is the precedence of its outermost operator.

    `percent` marks N% without an "of", `listed` a whole list.
    """

    text: str
    level: int = ATOM
    percent: bool = False
    listed: bool = False

    def at_least(self, level: int) -> str:
        """Its text, in parentheses where it binds less tightly than the level."""
        return self.text if self.level >= level else f"({self.text})"


def number(digits: str) -> Formula:
    """A literal number."""
    return Formula(digits)


def reference(text: str) -> Formula:
    """An earlier result; in parentheses, since it may turn out negative."""
    return Formula(f"({text})")


def binary(sign: str, left: Formula, right: Formula) -> Formula:
    """Two formulas joined by + - * / or %."""
    level = _LEVEL[sign]
    return Formula(f"{left.at_least(level)} {sign} {right.at_least(level + 1)}", level)


def power(base: Formula, exponent: Formula) -> Formula:
    """A base raised to an exponent."""
    return Formula(f"{base.at_least(ATOM)} ** {exponent.at_least(UNARY)}", POWER)


def negative(of: Formula) -> Formula:
    """A formula with its sign turned."""
    return Formula(f"-{of.at_least(UNARY + 1)}", UNARY)


def call(name: str, *arguments: Formula) -> Formula:
    """A function of the calculator."""
    return Formula(f"{name}({', '.join(argument.text for argument in arguments)})")


def percent(of: Formula) -> Formula:
    """N percent as a fraction."""
    return Formula(binary("/", of, number("100")).text, TIMES, percent=True)


def chain(sign: str, parts: list[Formula]) -> Formula:
    """Several formulas joined by one sign, from left to right."""
    whole = parts[0]
    for part in parts[1:]:
        whole = binary(sign, whole, part)
    return whole


def average(parts: list[Formula]) -> Formula:
    """The mean of several formulas."""
    return binary("/", chain("+", parts), number(str(len(parts))))
