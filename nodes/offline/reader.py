"""The tokens of one calculation, one after the other, and what in them stands for an earlier result."""

from nodes.offline import formula as f
from nodes.offline.draft import Draft, Value
from nodes.offline.formula import Formula
from nodes.offline.tokens import Token

FILL = {"the", "also", "up", "together", "out", "is", "number", "numbers", "value", "values", "$", "€", "£", "¥", "￥"}


class NoFormula(Exception):
    """These words are no arithmetic."""


class Reader:
    """A place in the tokens; `problem` is said once the words have proved to be arithmetic."""

    def __init__(self, tokens: list[Token], draft: Draft) -> None:
        self.tokens, self.draft, self.at = tokens, draft, 0
        self.operators = 0
        self.problem = ""

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
        while self.peek() in FILL and self.peek():
            self.at += 1

    def in_chinese(self) -> bool:
        """Whether the next word is Chinese."""
        return self.at < len(self.tokens) and self.tokens[self.at].text[0] > "\u3400"

    def is_cross(self) -> bool:
        """Whether the next word is the x of 17 x 23."""
        after = self.tokens[self.at + 1].kind if self.at + 1 < len(self.tokens) else ""
        return self.peek() == "x" and after in ("number", "value")

    def modulo(self) -> str:
        """`%` between two operands is the remainder."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return "%" if self.peek() == "%" and after and (after.kind in ("number", "value") or after.text == "(") else ""

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
        return f.reference(str(text)) if value.step or value.kind == "input" else f.number(str(text))

    def them(self) -> list[Formula]:
        """The results of the request before; a list stays whole for `sum` and `mean`."""
        group = self.draft.plural()
        if len(group) == 1 and group[0].is_list:
            return [Formula(str(group[0].argument("list")), listed=True)]
        return [self.operand(value) for value in group]
