"""A request cut into single requests, at joins: then, and, commas, semicolons, sentences, lists; in both languages."""

import re
from collections.abc import Collection

from nodes.offline.concepts import OPERATORS, VERBS
from nodes.offline.tokens import Token
from tools.stems import stem

_ENDS = {".", "!", "?", "。", "！", "？", ";", "；", "\n"}
_COMMAS = {",", "，", "、", ":", "："}
_STARTS = VERBS | {"obj"}
_ALSO_NOUNS = ("sum", "average", "double", "square", "cube")
_LIST_MARK = re.compile(
    r"(?m)^[ \t]*(?:[-*•]|\(?\d{1,2}[.)、]|第[一二三四五六七八九十]步[:：]?|[Ss]tep \d{1,2}[.:)]?)[ \t]+(?=\S)"
)


def unlisted(text: str) -> str:
    """A text without the numbers and bullets of a list, every other character in its place."""
    marks = list(_LIST_MARK.finditer(text))
    if not marks or (len(marks) == 1 and "\n" not in text):
        return text
    return _LIST_MARK.sub(lambda mark: " " * len(mark[0]), text)


def clauses(tokens: list[Token], verbs: Collection[str] = ()) -> list[list[Token]]:
    """The single requests in order; `verbs` are stems that also start one, from the names of the tools in use."""
    found: list[list[Token]] = [[]]
    for at, token in enumerate(tokens):
        if _joins(tokens, at, verbs):
            found.append([])
        else:
            found[-1].append(token)
    trimmed = (_trim(part) for part in found)
    return [part for part in trimmed if part]


def _joins(tokens: list[Token], at: int, verbs: Collection[str]) -> bool:
    token, rest = tokens[at], tokens[at + 1 :]
    if token.means("then"):
        return True
    if token.kind == "mark" and token.text in _ENDS:
        return not _inside_number(tokens, at)
    if token.kind == "mark" and token.text in _COMMAS:
        return _starts(rest, verbs, operators=True)
    return token.means("and") and _starts(rest, verbs, operators=False) and not _between(tokens, at)


def _starts(rest: list[Token], verbs: Collection[str], *, operators: bool) -> bool:
    """Whether a new request begins here."""
    while rest and rest[0].means("also", "order", "and"):
        rest = rest[1:]
    if not rest:
        return True
    first, second = rest[0], rest[1] if len(rest) > 1 else None
    if first.value in OPERATORS and operators and first.text.lower() not in ("-", "less"):
        return True
    if first.kind != "word" or (first.means(*_ALSO_NOUNS) and second is not None and second.means("of")):
        return False
    return first.value in _STARTS or stem(first.text) in verbs or _starts_otherwise(first, rest)


def _starts_otherwise(first: Token, rest: list[Token]) -> bool:
    """multiply by, it times 2, 每个, 从10中, 给bob发邮件."""
    if first.text.lower().split()[0] in ("multiply", "divide"):
        return True
    if first.means("it") and len(rest) > 1:
        return rest[1].value in OPERATORS or rest[1].value in VERBS
    if first.text == "给":
        return any(token.means("send", "mail") for token in rest[:4])
    return first.means("each", "from") and first.text[0] >= "\u3400"


def _between(tokens: list[Token], at: int) -> bool:
    """Whether this "and" belongs to "between A and B"."""
    return any(token.text.lower() == "between" for token in tokens[max(0, at - 3) : at])


def _inside_number(tokens: list[Token], at: int) -> bool:
    """A dot right before a letter, as in an unknown abbreviation, ends no sentence."""
    token = tokens[at]
    return (
        token.text == "."
        and at + 1 < len(tokens)
        and tokens[at + 1].start == token.end
        and tokens[at + 1].kind == "word"
    )


def _trim(part: list[Token]) -> list[Token]:
    """A request without the small words and commas around it."""
    noise = {"also", "and"}
    if part and part[0].means("order"):
        part = part[1:]
    while part and (part[0].means(*noise) or part[0].text in _COMMAS):
        part = part[1:]
    while part and (part[-1].means(*noise) or part[-1].text in _COMMAS or part[-1].text in ("?", "？")):
        part = part[:-1]
    return part
