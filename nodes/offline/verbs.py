"""Arithmetic that begins with a verb: add 5 to 12, divide it by 3, round it to 2 decimals."""

from collections.abc import Callable

from nodes.offline import formula as f
from nodes.offline.draft import NotUnderstood
from nodes.offline.formula import Formula
from nodes.offline.parser import Parser
from nodes.offline.reader import NoFormula
from nodes.offline.reductions import OF_WHAT, reduce


def _add(parser: Parser) -> Formula:
    parts = parser.operands()
    if parser.take("to"):
        return reduce("sum", [parser.element(), *parts])
    if len(parts) == 1 and parts[0].listed:
        return reduce("sum", parts)
    return reduce("sum", parts if len(parts) > 1 else [parser.it(), *parts])


def _subtract(parser: Parser) -> Formula:
    part = parser.element()
    if part.percent:
        raise NotUnderstood(OF_WHAT)
    return f.binary("-", parser.element() if parser.take("from") else parser.it(), part)


def _multiply(parser: Parser) -> Formula:
    if parser.take("by"):
        return f.binary("*", parser.it(), parser.element())
    parts = parser.operands()
    if parser.take("by", "with"):
        return f.chain("*", [*parts, parser.element()])
    if len(parts) < 2:
        raise NoFormula
    return f.chain("*", parts)


def _divide(parser: Parser) -> Formula:
    if parser.take("by"):
        return f.binary("/", parser.it(), parser.element())
    left = parser.element()
    if not parser.take("by"):
        raise NoFormula
    return f.binary("/", left, parser.element())


def _on(change: Callable[[Formula], Formula]) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.fill()
        if parser.at == len(parser.tokens):
            return change(parser.it())
        parser.take("of")
        return parser.sums(change(parser.postfix()))

    return action


def _change(sign: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        if parser.peek() == "by" or parser.tokens[parser.at - 1].text[0] > "\u3400":
            return parser.grow(parser.it(), sign)
        left = parser.element()
        if parser.take("**"):
            return f.power(left, parser.element())
        if parser.peek() != "by":
            raise NoFormula
        return parser.grow(left, sign)

    return action


def _round(parser: Parser) -> Formula:
    way = _direction(parser)
    parser.fill()
    if parser.at == len(parser.tokens):
        return f.call(way or "round", parser.it())
    first = parser.element()
    if way := way or _direction(parser):
        return f.call(way, first)
    if parser.take("decimals"):
        return f.call("round", parser.it(), first)
    if not parser.take("to"):
        return f.call("round", first)
    digits = parser.element()
    parser.take("decimals")
    return f.call("round", first, digits)


def _direction(parser: Parser) -> str:
    """The function of round up and round down, which only go to whole numbers; empty without either word."""
    for word, way in (("up", "ceil"), ("down", "floor")):
        if parser.take(word):
            return way
    return ""


VERBS: dict[str, Callable[[Parser], Formula]] = {
    "add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide, "round": _round,
    "round up": _on(lambda x: f.call("ceil", x)), "round down": _on(lambda x: f.call("floor", x)),
    "double": _on(lambda x: f.binary("*", x, f.number("2"))), "triple": _on(lambda x: f.binary("*", x, f.number("3"))),
    "halve": _on(lambda x: f.binary("/", x, f.number("2"))), "square": _on(lambda x: f.power(x, f.number("2"))),
    "cube": _on(lambda x: f.power(x, f.number("3"))), "increase": _change("+"), "decrease": _change("-"),
}  # fmt: skip
