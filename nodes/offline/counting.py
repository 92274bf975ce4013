"""The number of words: "the word count of X" and X的字数, alone or inside another request."""

from collections.abc import Sequence

from nodes.offline.draft import Draft, Value
from nodes.offline.nouns import as_paths, values
from nodes.offline.slots import only, without
from nodes.offline.tokens import Token

_PHRASE = {
    "it",
    "them",
    "each",
    "all",
    "and",
    ",",
    "，",
    "、",
    "the",
    "file",
    "in",
    "from",
    "poss",
    "folder",
    "of",
    "documents",
}
_QUIET = (
    "what",
    "calc",
    "search",
    "read",
    "the",
    "of",
    "also",
    "count",
    "obj",
    "word count",
    "words",
    "poss",
    "and",
    "list",
)
_VERBISH = {
    "in",
    "of",
    "from",
    "for",
    "is",
    "are",
    "does",
    "do",
    "have",
    "has",
    "there",
    "contain",
    "contains",
    "about",
    "the",
    "poss",
}


def counted(tokens: list[Token], draft: Draft) -> list[Token]:
    """Tokens with every "the word count of X" and X的字数 replaced by the results of steps that count."""
    before: list[Token] = []
    while tokens != before:
        before, tokens = tokens, _first_counted(tokens, draft)
    return tokens


def _first_counted(tokens: list[Token], draft: Draft) -> list[Token]:
    at = next(
        (n for n, t in enumerate(tokens) if t.means("word count") or (t.means("words") and _count_near(tokens, n))),
        None,
    )
    if at is None:
        return tokens
    start, end = _operand(tokens, at)
    phrase = without(tokens[start:end], "count", "what", "words", "word count")
    if not phrase and (
        draft.topic is None or not only(tokens, "count", "words", "word count", "the", "what", "also", "obj")
    ):
        return tokens
    tool = draft.tool("count_words", "count words")
    found = []
    for path in as_paths(values(_plain(phrase), draft) or [draft.last()], draft, "count words"):
        found.append(draft.add(tool, {"path": path.argument("path")}, noun="number"))
    draft.each = None
    before = tokens[:start] if start < at else _drop_count(tokens[:at])
    return [*before, *_as_tokens(found, tokens[at]), *tokens[max(end, at + 1) :]]


def _count_near(tokens: Sequence[Token], at: int) -> bool:
    if any(t.means("count") for t in tokens[:at]) or (at and tokens[at - 1].means("what", "also")):
        return True
    return (at > 0 and tokens[at].text[0] > "\u3400" and tokens[at].text[0] != "字") or tokens[at].text in (
        "字数",
        "单词数",
        "词数",
    )


def _operand(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Where the phrase that is counted stands: behind "words of" in English, in front of 字数 in Chinese."""
    end = at + 1
    while end < len(tokens) and (
        tokens[end].kind in ("path", "quote", "value")
        or tokens[end].value in _PHRASE | _VERBISH
        or _kind_word(tokens, end)
    ):
        end += 1
    while end > at + 1 and tokens[end - 1].means("and", ",", "，", "、", "from", "the", "of"):
        end -= 1
    if any(t.kind in ("path", "quote") or t.means("it", "them", "each", "file") for t in tokens[at + 1 : end]):
        return at + 1, end
    start = at
    while start > 0 and (
        tokens[start - 1].kind in ("path", "quote", "value")
        or tokens[start - 1].value in _PHRASE | {"what", "count"}
        or tokens[start].means("file", "folder")
    ):
        start -= 1
    while start < at and (tokens[start].means("and", ",", "，", "count") or tokens[start].means("what")):
        start += 1
    return start, at + 1


def _kind_word(tokens: Sequence[Token], at: int) -> bool:
    """md in "md files", docs in "the docs folder"."""
    return (at + 1 < len(tokens) and tokens[at + 1].means("file", "folder")) or (
        tokens[at - 1].means("in") and tokens[at].kind == "word"
    )


def _plain(tokens: list[Token]) -> list[Token]:
    """A phrase without the small words in front and behind."""
    small = _VERBISH - {"in"}
    while tokens and (tokens[0].value in small or (tokens[0].means("of", "in") and not tokens[0].text[0] > "\u3400")):
        tokens = tokens[1:]
    while tokens and tokens[-1].value in small | {"in"}:
        tokens = tokens[:-1]
    return [
        t for t in tokens if t.text not in ("is", "are", "does", "do", "have", "has", "there", "contain", "contains")
    ]


def _drop_count(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].means("count", "the", "of"):
        tokens = tokens[:-1]
    return tokens


def _as_tokens(found: list[Value], at: Token) -> list[Token]:
    tokens: list[Token] = []
    for value in found:
        if tokens:
            tokens.append(Token("word", "and", "and", at.start, at.end))
        tokens.append(Token("value", at.text, value, at.start, at.end))
    return tokens


def is_done(tokens: list[Token], draft: Draft) -> bool:
    """Whether nothing is left to do but say the results."""
    rest = [t for t in tokens if t.kind != "value"]
    return len(rest) < len(tokens) and all(t.means(*_QUIET) or t.kind == "mark" or t.text in _VERBISH for t in rest)
