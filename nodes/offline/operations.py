"""What single words do to an operand: functions in front of it (square root of), and words behind it (squared, %)."""

from collections.abc import Callable

from nodes.offline import formula as f
from nodes.offline.formula import Formula
from nodes.offline.parser import Parser
from nodes.offline.reader import NoFormula
from nodes.offline.reductions import REDUCTIONS, reduce

_FRACTIONS = {"half": "2", "third": "3", "quarter": "4", "fifth": "5", "tenth": "10"}


def _reduction(kind: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.operators += 1
        parser.take("of")
        if kind == "remainder":
            return _remainder(parser)
        if parser.peek().lower() == "between":
            parser.at += 1
        return reduce(kind, parser.operands())

    return action


def _remainder(parser: Parser) -> Formula:
    parser.take("of", "if")
    left = parser.postfix()
    parser.fill()
    if not parser.take("/", "and", "divided"):
        raise NoFormula
    parser.take("by")
    return f.binary("%", left, parser.postfix())


def _operand(parser: Parser) -> Formula:
    """What a function is of; the result before, where nothing is said."""
    return parser.element() if parser.at < len(parser.tokens) else parser.it()


def _root(exponent: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.operators += 1
        parser.take("of")
        return _root_of(_operand(parser), exponent)

    return action


def _root_of(of: Formula, exponent: str) -> Formula:
    return f.call("sqrt", of) if exponent == "0.5" else f.power(of, Formula(exponent, f.PLUS))


def _share(sign: str, factor: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.operators += 1
        parser.take("of")
        return f.binary(sign, _operand(parser), f.number(factor))

    return action


def _parentheses(parser: Parser) -> Formula:
    inside = parser.expression()
    if not parser.take(")", "）"):
        raise NoFormula
    return Formula(f"({inside.text})")


def _it(parser: Parser) -> Formula:
    if not parser.draft.values:
        parser.problem = "it is not clear what “it” or “the result” means: nothing comes before it"
        return f.number("0")
    return parser.operand(parser.draft.last())


def _percent(parser: Parser, left: Formula) -> Formula:
    share = f.percent(left)
    if parser.take("of", "poss"):
        return f.binary("*", Formula(share.text, f.TIMES), parser.postfix())
    if parser.take("off") or (
        parser.peek() == "from" and parser.tokens[parser.at].text == "off" and parser.take("from")
    ):
        return f.binary("*", parser.postfix(), Formula(f.binary("-", f.number("1"), share).text, f.PLUS))
    return share


def _parts(divisor: str) -> Callable[[Parser, Formula], Formula]:
    def action(parser: Parser, left: Formula) -> Formula:
        share = f.binary("/", left, f.number(divisor))
        return f.binary("*", share, parser.postfix()) if parser.take("of") else share

    return action


def _absolute(parser: Parser) -> Formula:
    parser.operators += 1
    parser.take("of")
    return f.call("abs", _operand(parser))


def _factorial(parser: Parser) -> Formula:
    parser.operators += 1
    parser.take("of")
    return f.call("factorial", _operand(parser))


def _han_only(make: Callable[[Formula], Formula]) -> Callable[[Parser, Formula], Formula | None]:
    def action(parser: Parser, left: Formula) -> Formula | None:
        return make(left) if parser.tokens[parser.at - 1].text[0] > "\u3400" else None

    return action


POSTFIX: dict[str, Callable[[Parser, Formula], Formula | None]] = {
    "%": _percent,
    "factorial": lambda parser, left: f.call("factorial", left),
    "squared": lambda parser, left: f.power(left, f.number("2")),
    "cubed": lambda parser, left: f.power(left, f.number("3")),
    "half": _han_only(lambda left: f.binary("/", left, f.number("2"))),
    "third": _parts("3"),
    "quarter": _parts("4"),
    "fifth": _parts("5"),
    "tenth": _parts("10"),
    "double": _han_only(lambda left: f.binary("*", left, f.number("2"))),
    "halve": _han_only(lambda left: f.binary("/", left, f.number("2"))),
    "sqrt": _han_only(lambda left: f.call("sqrt", left)),
    "cbrt": _han_only(lambda left: _root_of(left, "1 / 3")),
    "abs": _han_only(lambda left: f.call("abs", left)),
}
PREFIX: dict[str, Callable[[Parser], Formula]] = {
    **{name: _share("/", divisor) for name, divisor in _FRACTIONS.items()},
    **{kind: _reduction(kind) for kind in REDUCTIONS},
    "(": _parentheses,
    "（": _parentheses,
    "it": _it,
    "sqrt": _root("0.5"),
    "cbrt": _root("1 / 3"),
    "abs": _absolute,
    "factorial": _factorial,
    "double": _share("*", "2"),
    "triple": _share("*", "3"),
}
