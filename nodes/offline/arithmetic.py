"""Arithmetic in words and symbols becomes one formula for the calculator.

Symbols and words between numbers keep their precedence; a chain of requests is carried out one after the other.
Leaves out: units, equations, and a percentage that is added or subtracted without saying of what.
"""

from collections.abc import Callable

from nodes.offline import formula as f
from nodes.offline.draft import Draft, NotUnderstood, Value, given
from nodes.offline.formula import Formula
from nodes.offline.tokens import Token

_LEAD = {"what", "calc", "also", "the", "obj", "search", "="}
_TAIL = {"what", "calc", "=", "?", "？", "also", "。", "."}
_BINARY = {"+": "+", "-": "-", "*": "*", "/": "/", "mod": "%"}
_REDUCE = {"sum", "product", "difference", "quotient", "average", "remainder"}
_FRACTIONS = {"half": "2", "third": "3", "quarter": "4", "fifth": "5", "tenth": "10"}
_FILL = {"the", "also", "up", "together", "out", "is", "number", "numbers", "value", "values", "$", "€", "£", "¥", "￥"}


class NoFormula(Exception):
    """These words are no arithmetic."""


def calculate(tokens: list[Token], draft: Draft) -> bool:
    """Adds a calculator step if the request is arithmetic as a whole."""
    found = formula_of(tokens, draft)
    if found is None:
        return False
    tool = draft.tool("calculator", "calculate")
    draft.add(tool, {"expression": found.text}, noun="number")
    return True


def formula_of(tokens: list[Token], draft: Draft) -> Formula | None:
    """The formula that these words mean, or None if they are no arithmetic as a whole."""
    parser = Parser(_stripped(tokens), draft)
    try:
        found = parser.request()
    except (NoFormula, RecursionError):
        return None
    return None if found.percent and len(parser.tokens) < 2 else found


def _stripped(tokens: list[Token]) -> list[Token]:
    tokens = [t for t in tokens if not t.means("also")]
    while len(tokens) > 1 and tokens[0].means(*_LEAD):
        tokens = tokens[1:]
    if len(tokens) > 2 and tokens[0].means("it") and tokens[1].means("of", "poss"):
        tokens = tokens[2:]
    while len(tokens) > 1 and tokens[-1].means(*_TAIL):
        tokens = tokens[:-1]
    return tokens


class Parser:
    """Recursive descent over the tokens of one request."""

    def __init__(self, tokens: list[Token], draft: Draft) -> None:
        self.tokens, self.draft, self.at = tokens, draft, 0
        self.operators = 0
        self.problem = ""

    def request(self) -> Formula:
        """The whole request as a formula; raises `NoFormula` if a word is left over."""
        self.fill()
        if (found := self.bare_reduction()) is not None:
            return found
        verb = self.peek()
        action = VERBS.get(verb) if verb else None
        if action:
            self.at += 1
            self.operators += 1
            found = action(self)
        else:
            found = self.open_expression()
        self.fill()
        if self.at < len(self.tokens) or not self.operators:
            raise NoFormula
        if self.problem:
            raise NotUnderstood(self.problem)
        return found

    def bare_reduction(self) -> Formula | None:
        """ "sum them", "the total", 它们的和: a reduction that names no operands means the results before."""
        words = [
            token
            for token in self.tokens
            if not token.means("them", "it", "obj", "poss", "of", "all", "the", "calc", "also")
        ]
        words = [token for token in words if token.text not in _FILL]
        if len(words) != 1 or str(words[0].value) not in _REDUCE or words[0].kind != "word" or not self.draft.values:
            return None
        self.at, self.operators = len(self.tokens), 1
        return reduce(str(words[0].value), self.them())

    def peek(self, ahead: int = 0) -> str:
        """The concept of the next token; empty for what is no word or mark."""
        at = self.at + ahead
        token = self.tokens[at] if at < len(self.tokens) else None
        return str(token.value) if token and token.kind in ("word", "mark") else ""

    def take(self, *concepts: str) -> bool:
        """Goes past the next token if it has one of these meanings."""
        if self.peek() in concepts and self.peek():
            self.at += 1
            return True
        return False

    def fill(self) -> None:
        """Goes past small words without a meaning of their own."""
        while self.peek() in _FILL and self.peek():
            self.at += 1

    def it(self) -> Formula:
        """The result before this request."""
        if not self.draft.values:
            raise NoFormula
        return self.operand(self.draft.last())

    def operand(self, value: Value) -> Formula:
        """A value as a part of a formula."""
        text = value.argument("number")
        if text is None:
            self.problem = f"the {value.noun or 'result'} of step {value.step} is not a number to calculate with"
        return f.reference(text) if value.step or value.kind == "input" else f.number(str(text))

    def open_expression(self) -> Formula:
        """An expression whose first operand may be left out: then it is the result before."""
        if self.take("from"):
            left = self.postfix()
            self.take("in")
            return self.sums(left)
        behind = self.peek() in _POSTFIX and (self.peek() in ("%", "squared", "cubed") or self.in_chinese())
        if (
            behind
            or (self.peek() in (*_BINARY, "**", "increase", "decrease")
            and (self.peek() != "-" or self.draft.values))
        ):
            return self.sums(self.it())
        return self.expression()

    def in_chinese(self) -> bool:
        """Whether the next word is Chinese."""
        return self.at < len(self.tokens) and self.tokens[self.at].text[0] > "\u3400"

    def expression(self) -> Formula:
        """Sums of products of powers."""
        return self.sums(self.products(self.power(self.unary())))

    def sums(self, left: Formula) -> Formula:
        """What follows a left operand: products first, then + and -."""
        left = self.products(self.power(left))
        while (sign := self.peek()) in ("+", "-", "increase", "decrease"):
            self.at += 1
            self.operators += 1
            if sign in ("increase", "decrease"):
                left = self.grow(left, "+" if sign == "increase" else "-")
                continue
            right = self.products(self.power(self.unary()))
            if right.percent:
                self.problem = (
                    "a percentage is added or subtracted without saying of what (say: increase … by … percent)"
                )
            left = f.binary(sign, left, right)
        return left

    def products(self, left: Formula) -> Formula:
        """What follows a left operand: * / and mod."""
        while True:
            sign = _BINARY.get("*" if self.is_cross() else self.peek()) or self.modulo()
            if sign not in ("*", "/", "%"):
                return left
            self.at += 1
            self.operators += 1
            left = f.binary(sign, left, self.power(self.unary()))

    def is_cross(self) -> bool:
        """Whether the next word is the x of 17 x 23."""
        after = self.tokens[self.at + 1].kind if self.at + 1 < len(self.tokens) else ""
        return self.peek() == "x" and after in ("number", "value")

    def modulo(self) -> str:
        """`%` between two operands is the remainder."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return "%" if self.peek() == "%" and after and (after.kind in ("number", "value") or after.text == "(") else ""

    def power(self, left: Formula) -> Formula:
        """What follows a left operand: to the power of."""
        left = self.postfixes(left)
        if self.take("**"):
            self.operators += 1
            return f.power(left, self.power(self.unary()))
        return left

    def unary(self) -> Formula:
        """A sign before a power."""
        self.fill()
        if self.take("-", "negative", "负"):
            return f.negative(self.power(self.unary()))
        if self.take("+"):
            return self.unary()
        return self.postfix()

    def postfix(self) -> Formula:
        """An operand with what stands behind it: squared, percent of, 的一半."""
        return self.postfixes(self.joined(self.primary()))

    def postfixes(self, left: Formula) -> Formula:
        """What may stand behind an operand."""
        while True:
            start = self.at
            self.take("poss")
            action = _POSTFIX.get(self.peek())
            if action is None or (self.peek() == "%" and self.modulo()):
                found = self.portion(left) if self.at > start else None
            else:
                self.at += 1
                found = action(self, left)
            if found is None:
                self.at = start
                return left
            self.operators += 1
            left = found

    def portion(self, whole: Formula) -> Formula | None:
        """的 with a number: 100的20%, 5的3倍, 2的10次方."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None or token.kind != "number":
            return None
        self.at += 1
        part = f.number(token.value)
        if self.take("%"):
            return f.binary("*", whole, Formula(f.percent(part).text, f.TIMES))
        if self.take("倍"):
            return f.binary("*", whole, part)
        return f.power(whole, part) if self.take("nth power") else None

    def joined(self, first: Formula) -> Formula:
        """3和5的和: a list whose reduction comes behind it."""
        start, before = self.at, self.operators
        try:
            parts = [first]
            while self.take("and", ",", "，", "、"):
                parts.append(self.primary())
            self.take("poss")
            kind = self.peek()
            if len(parts) > 1 and kind in _REDUCE:
                self.at += 1
                self.operators += 1
                return reduce(kind, parts)
        except NoFormula:
            pass
        self.at, self.operators = start, before
        return first

    def primary(self) -> Formula:
        """A number, a result, parentheses, or a function of something."""
        self.fill()
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is None:
            raise NoFormula
        self.at += 1
        if token.kind == "number":
            self.take("倍")
            if self.take("分之"):
                self.operators += 1
                return f.binary("/", self.primary(), f.number(token.value))
            return f.number(token.value)
        if token.kind == "value":
            return self.operand(token.value)
        action = _PREFIX.get(str(token.value)) if token.kind in ("word", "mark") else None
        if action:
            return action(self)
        name = next((name for name in self.draft.inputs if name.lower() == token.text.lower()), None)
        if name is None or token.kind not in ("word", "path"):
            raise NoFormula
        return self.operand(given(name))

    def operands(self) -> list[Formula]:
        """A list of operands, or the several results that "them" means."""
        self.fill()
        self.take("of")
        self.fill()
        if self.peek() == "them" or (self.peek() == "all" and self.take("all")):
            self.take("them")
            return self.them()
        parts = [self.element()]
        while self.peek() in ("and", ",", "，", "、") and self.take(self.peek()):
            self.take("and")
            parts.append(self.element())
        return parts

    def element(self) -> Formula:
        """One member of a list, binding tighter than + and *."""
        self.fill()
        return f.negative(self.postfix()) if self.take("-") else self.postfix()

    def them(self) -> list[Formula]:
        """The results of the request before; a list stays whole for `sum` and `mean`."""
        group = self.draft.plural()
        if len(group) == 1 and group[0].is_list:
            return [Formula(str(group[0].argument("list")), percent=True)]
        return [self.operand(value) for value in group]

    def grow(self, left: Formula, sign: str) -> Formula:
        """Increased or decreased by a number, or by a percentage of itself."""
        self.take("by")
        by = self.power(self.unary())
        if by.percent:
            return f.binary("*", left, Formula(f.binary(sign, f.number("1"), by).text, f.PLUS))
        return f.binary(sign, left, by)


def reduce(kind: str, parts: list[Formula]) -> Formula:
    """Sum, product, difference and so on of several formulas; raises `NoFormula` where the number of them is wrong."""
    if len(parts) == 1 and parts[0].percent:
        return _over_list(kind, parts[0])
    if len(parts) < 2 or (len(parts) > 2 and kind in ("difference", "quotient", "remainder")):
        raise NoFormula
    if kind == "average":
        return f.average(parts)
    if kind == "difference":
        return f.call("abs", f.chain("-", parts))
    return f.chain({"sum": "+", "product": "*", "quotient": "/", "remainder": "%"}[kind], parts)


def _over_list(kind: str, of: Formula) -> Formula:
    name = {"sum": "sum", "average": "mean"}.get(kind)
    if name is None:
        raise NotUnderstood(f"the {kind} of a whole list is not understood")
    return f.call(name, Formula(of.text))


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


def _root(exponent: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.operators += 1
        parser.take("of")
        return _root_of(parser.postfix(), exponent)

    return action


def _root_of(of: Formula, exponent: str) -> Formula:
    return f.call("sqrt", of) if exponent == "0.5" else f.power(of, Formula(exponent, f.PLUS))


def _fraction(divisor: str) -> Callable[[Parser], Formula]:
    def action(parser: Parser) -> Formula:
        parser.operators += 1
        parser.take("of")
        return f.binary("/", parser.postfix(), f.number(divisor))

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
    return f.call("abs", parser.postfix())


def _han_only(make: Callable[[Formula], Formula]) -> Callable[[Parser, Formula], Formula | None]:
    def action(parser: Parser, left: Formula) -> Formula | None:
        return make(left) if parser.tokens[parser.at - 1].text[0] > "\u3400" else None

    return action


_POSTFIX: dict[str, Callable[[Parser, Formula], Formula | None]] = {
    "%": _percent,
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
_PREFIX: dict[str, Callable[[Parser], Formula]] = {
    "(": _parentheses, "（": _parentheses, "it": _it, "sqrt": _root("0.5"), "cbrt": _root("1 / 3"), "abs": _absolute,
    "double": _fraction("0.5"), "triple": _fraction("(1 / 3)"),
} | {name: _fraction(divisor) for name, divisor in _FRACTIONS.items()} | {kind: _reduction(kind) for kind in _REDUCE}  # fmt: skip


def _add(parser: Parser) -> Formula:
    parts = parser.operands()
    if parser.take("to"):
        target = parser.element()
        return f.chain("+", [target, *parts])
    if len(parts) == 1 and parts[0].percent:
        return reduce("sum", parts)
    return f.chain("+", parts if len(parts) > 1 else [parser.it(), *parts])


def _subtract(parser: Parser) -> Formula:
    part = parser.element()
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
    parser.fill()
    if parser.at == len(parser.tokens):
        return f.call("round", parser.it())
    first = parser.element()
    if parser.take("decimals"):
        return f.call("round", parser.it(), first)
    if not parser.take("to"):
        return f.call("round", first)
    digits = parser.element()
    parser.take("decimals")
    return f.call("round", first, digits)


VERBS: dict[str, Callable[[Parser], Formula]] = {
    "add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide, "round": _round,
    "double": _on(lambda x: f.binary("*", x, f.number("2"))), "triple": _on(lambda x: f.binary("*", x, f.number("3"))),
    "halve": _on(lambda x: f.binary("/", x, f.number("2"))), "square": _on(lambda x: f.power(x, f.number("2"))),
    "cube": _on(lambda x: f.power(x, f.number("3"))), "increase": _change("+"), "decrease": _change("-"),
}  # fmt: skip
