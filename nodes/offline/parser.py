"""The grammar of arithmetic: recursive descent over the tokens of one request.

Symbols and words between numbers keep their precedence. What a single word does is in `operations.py` and `verbs.py`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nodes.offline import formula as f
from nodes.offline.draft import Draft, NotUnderstood, given
from nodes.offline.formula import Formula
from nodes.offline.reader import FILL, NoFormula, Reader
from nodes.offline.reductions import OF_WHAT, REDUCTIONS, reduce
from nodes.offline.tokens import Token

_SHARE = re.compile(r"\d+ / \d+")
_BINARY = {"+": "+", "-": "-", "*": "*", "/": "/", "mod": "%"}


@dataclass(frozen=True)
class Words:
    """What words do: verbs in front of a request, functions in front of an operand, and what stands behind one."""

    verbs: "Mapping[str, Callable[[Parser], Formula]]"
    prefix: "Mapping[str, Callable[[Parser], Formula]]"
    postfix: "Mapping[str, Callable[[Parser, Formula], Formula | None]]"


class Parser(Reader):
    """One request, read from left to right."""

    def __init__(self, tokens: list[Token], draft: Draft, words: Words) -> None:
        super().__init__(tokens, draft)
        self.words = words

    def request(self) -> Formula:
        """The whole request as a formula; raises `NoFormula` if a word is left over."""
        self.fill()
        if (found := self.bare_reduction()) is not None:
            return found
        verb = self.peek()
        action = self.words.verbs.get(verb) if verb else None
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
        words = [token for token in words if token.text not in FILL]
        if len(words) != 1 or str(words[0].value) not in REDUCTIONS or words[0].kind != "word" or not self.draft.values:
            return None
        self.at, self.operators = len(self.tokens), 1
        return reduce(str(words[0].value), self.them())

    def open_expression(self) -> Formula:
        """An expression whose first operand may be left out: then it is the result before."""
        if self.peek() == "+" and self.in_chinese() and not self.draft.values:  # 加17和25, with nothing before
            self.at += 1
            self.operators += 1
            return self.words.verbs["add"](self)
        if self.take("from"):
            left = self.postfix()
            self.take("in")
            return self.sums(left)
        behind = self.peek() in self.words.postfix and (
            self.peek() in ("%", "squared", "cubed", "factorial") or self.in_chinese()
        )
        if behind or (
            self.peek() in (*_BINARY, "**", "increase", "decrease") and (self.peek() != "-" or self.draft.values)
        ):
            return self.sums(self.it())
        return self.expression()

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
            if left.percent or right.percent:
                self.problem = OF_WHAT
            left = f.binary(sign, left, right)
        return left

    def products(self, left: Formula) -> Formula:
        """What follows a left operand: * / and mod."""
        while True:
            sign = _BINARY.get("*" if self.is_cross() else self.peek()) or self.modulo()
            if sign not in ("*", "/", "%"):
                return self.part_of(left)
            self.at += 1
            self.operators += 1
            left = f.binary(sign, left, self.power(self.unary()))

    def part_of(self, left: Formula) -> Formula:
        """1/4 of 80."""
        if not _SHARE.fullmatch(left.text) or not self.take("of"):
            return left
        return f.binary("*", left, self.postfix())

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
            action = self.words.postfix.get(self.peek())
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
            if len(parts) > 1 and kind in REDUCTIONS:
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
        action = self.words.prefix.get(str(token.value)) if token.kind in ("word", "mark") else None
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
            self.take("them", "it")
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

    def grow(self, left: Formula, sign: str) -> Formula:
        """Increased or decreased by a number, or by a percentage of itself."""
        self.take("by")
        by = self.power(self.unary())
        if by.percent:
            return f.binary("*", left, Formula(f.binary(sign, f.number("1"), by).text, f.PLUS))
        return f.binary(sign, left, by)
