"""Arithmetic in words and symbols becomes one formula for the calculator.

A chain of requests is carried out one after the other.
Leaves out: units, equations, and a percentage that is added or subtracted without saying of what.
"""

from nodes.offline.draft import Draft, literal
from nodes.offline.formula import Formula
from nodes.offline.operations import POSTFIX, PREFIX
from nodes.offline.parser import Parser, Words
from nodes.offline.reader import NoFormula
from nodes.offline.tokens import Token
from nodes.offline.verbs import VERBS

_LEAD = {"what", "calc", "also", "the", "obj", "search", "="}
_TAIL = {"what", "calc", "=", "?", "？", "also", "。", "."}
_WORDS = Words(VERBS, PREFIX, POSTFIX)


def calculate(tokens: list[Token], draft: Draft) -> bool:
    """Adds a calculator step if the request is arithmetic as a whole."""
    if start := _start(tokens):
        draft.values.append(literal(start, "number"))
        return True
    found = formula_of(tokens, draft)
    if found is None:
        return False
    tool = draft.tool("calculator", "calculate")
    draft.add(tool, {"expression": found.text}, noun="number")
    return True


def _start(tokens: list[Token]) -> str:
    """The number of "take 100" and "start with 100", from which a chain of requests goes on."""
    rest = [
        t for t in tokens if not t.means("also", "the", "with", "from", "of") and t.text.lower() not in ("number", "at")
    ]
    begins = rest and rest[0].text.lower() in ("take", "start", "begin", "从", "取")
    return str(rest[1].value) if begins and len(rest) == 2 and rest[1].kind == "number" else ""


def formula_of(tokens: list[Token], draft: Draft) -> Formula | None:
    """The formula that these words mean, or None if they are no arithmetic as a whole."""
    parser = Parser(_stripped(tokens), draft, _WORDS)
    try:
        found = parser.request()
    except (NoFormula, RecursionError):
        return None
    return None if found.percent and len(parser.tokens) < 2 else found


def _stripped(tokens: list[Token]) -> list[Token]:
    tokens = [t for t in tokens if not t.means("also")]
    while len(tokens) > 1 and (tokens[0].means(*_LEAD) or tokens[0].text.lower() in ("take", "then")):
        tokens = tokens[1:]
    if len(tokens) > 2 and tokens[0].means("it") and tokens[1].means("of", "poss"):
        tokens = tokens[2:]
    while len(tokens) > 1 and tokens[-1].means(*_TAIL):
        tokens = tokens[:-1]
    return tokens
