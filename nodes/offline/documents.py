"""Requests about documents: count words, read, search, summarise, translate, compare."""

from collections.abc import Sequence
from typing import Any

from nodes.offline import formula as f
from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.lexicon import OPERATORS
from nodes.offline.nouns import as_paths, as_text, read, values
from nodes.offline.slots import OBJECT, only, slots, without
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
    """Tokens with "the word count of X" and X的字数 replaced by the results of steps that count."""
    at = next(
        (n for n, t in enumerate(tokens) if t.means("word count") or (t.means("words") and _count_near(tokens, n))),
        None,
    )
    if at is None:
        return tokens
    start, end = _operand(tokens, at)
    phrase = without(tokens[start:end], "count", "what", "words", "word count")
    if not phrase:
        return tokens
    tool = draft.tool("count_words", "count words")
    found = []
    for path in as_paths(values(_plain(phrase), draft), draft, "count words"):
        found.append(draft.add(tool, {"path": path.argument("path")}, noun="number"))
        draft.each = None
    before = tokens[:start] if start < at else _drop_count(tokens[:at])
    return [*before, *_as_tokens(found, tokens[at]), *tokens[max(end, at + 1) :]]


def _count_near(tokens: Sequence[Token], at: int) -> bool:
    if any(t.means("count") for t in tokens[:at]):
        return True
    return (
        (at > 0
        and tokens[at].text[0] > "\u3400"
        and tokens[at].text[0] != "字")
        or tokens[at].text in ("字数", "单词数", "词数")
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
    while end > at + 1 and tokens[end - 1].means("and", ",", "，", "、"):
        end -= 1
    if any(t.kind in ("path", "quote") or t.means("it", "them", "each", "file") for t in tokens[at + 1 : end]):
        return at + 1, end
    start = at
    while start > 0 and (
        tokens[start - 1].kind in ("path", "quote", "value") or tokens[start - 1].value in _PHRASE | {"what", "count"}
    ):
        start -= 1
    while start < at and (tokens[start].means("and", ",", "，", "count") or tokens[start].means("what")):
        start += 1
    return start, at + 1


def _kind_word(tokens: Sequence[Token], at: int) -> bool:
    """md in "md files", docs in "the docs folder"."""
    return (
        (at + 1 < len(tokens)
        and tokens[at + 1].means("file", "folder"))
        or (tokens[at - 1].means("in")
        and tokens[at].kind == "word")
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


def show(tokens: list[Token], draft: Draft) -> bool:
    """ "show me the result": the answer says it anyway."""
    asks = any(t.means("what", "read") for t in tokens)
    return (
        asks
        and bool(draft.values)
        and any(t.means("it", "them") for t in tokens)
        and only(tokens, "what", "read", "it", "them", "the", "poss", "also", "obj", "is")
    )


def read_files(tokens: list[Token], draft: Draft) -> bool:
    """ "read a.txt", "what is in a.txt", "the contents of each file in docs"."""
    if not any(t.means("read", "what", "content", "search") for t in tokens):
        return False
    rest = [
        t
        for t in tokens
        if not t.means("read", "what", "also", "content", "obj", "search")
        and t.text not in ("is", "does", "say", "contain", "says", "out")
    ]
    while rest and rest[0].means("of", "in", "the", "from") and len(rest) > 1 and rest[1].kind == "path":
        rest = rest[1:]
    rest = [t for t in rest if not (t.means("in") and t is rest[-1])]
    if not any(t.kind == "path" or t.means("each", "file", "it", "them", "all") for t in rest) or any(
        t.kind == "quote" for t in rest
    ):
        return False
    for path in as_paths(values(rest, draft), draft, "read it"):
        read(path, draft)
    return True


def says_search(tokens: Sequence[Token]) -> bool:
    """Whether the request names searching or documents, and not merely finding."""
    return any(t.means("documents") or t.text.lower().startswith(("search", "look", "搜", "检索")) for t in tokens)


def search(tokens: list[Token], draft: Draft, text: str) -> bool:
    """ "search for X", "find the 5 documents about X": everything behind the verb is the query."""
    at = next((n for n, t in enumerate(tokens) if t.means("search")), None)
    if at is None or not only(tokens[:at], "the", "also", "obj", "in", "documents", "what", "from", "poss"):
        return False
    if not says_search(tokens) and any(str(t.value) in OPERATORS for t in tokens):
        return False
    tool = draft.tool("search", "search the documents")
    rest, limit = _limit(tokens[at + 1 :])
    rest = _query(rest)
    if not rest:
        raise NotUnderstood("it is not said what to search for")
    if all(t.kind == "quote" for t in rest):
        query: Any = " ".join(str(t.value) for t in rest)
    elif len(rest) == 1 and (rest[0].means("it") or rest[0].kind == "value"):
        query = as_text(values(rest, draft), draft)
    else:
        query = text[rest[0].start : rest[-1].end]
    args: dict[str, Any] = {"query": query} | ({"limit": limit} if limit and "limit" in tool.parameters else {})
    draft.add(tool, args, noun="passages")
    return True


def _limit(tokens: list[Token]) -> tuple[list[Token], int | None]:
    """top 3, 3 results, the first 5 documents."""
    for at, token in enumerate(tokens[:3]):
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if (
            token.kind == "number"
            and token.value.isdigit()
            and (
                (at and tokens[at - 1].text.lower() in ("top", "first", "best", "前"))
                or (
                    after
                    and (after.means("documents") or after.text.lower() in ("results", "passages", "hits", "条", "篇"))
                )
            )
        ):
            return tokens[at + 1 :], int(token.value)
    return tokens, None


def _query(tokens: list[Token]) -> list[Token]:
    """The words of the query, without "in the documents" and "documents about"."""
    front = ("the", "documents", "about", "in", "of", "from", "all", "poss", "obj")
    cut = next(
        (
            n
            for n, t in enumerate(tokens)
            if t.means("in") and tokens[n + 1 :] and only(tokens[n + 1 :], "the", "documents", "all", "of")
        ),
        None,
    )
    if cut:
        tokens = tokens[:cut]
    while tokens and (
        tokens[0].means(*front) or tokens[0].text.lower() in ("results", "passages", "for", ":", "：", "条")
    ):
        tokens = tokens[1:]
    while tokens and (
        (tokens[-1].means("poss", "documents") and tokens[-1].text[0] > "\u3400") or tokens[-1].text in ".。!！"
    ):
        tokens = tokens[:-1]
    return tokens


def summarise(tokens: list[Token], draft: Draft) -> bool:
    """ "summarise it in 3 sentences", 用三句话总结a.txt."""
    if not any(t.means("summarise", "summary") for t in tokens):
        return False
    rest, sentences = _sentences(tokens)
    rest = [
        t
        for t in rest
        if not t.means("summarise", "summary", "what", "also", "obj", "create", "of", "calc", "read")
        and t.text.lower() not in ("write", "writing")
    ]
    tool = draft.tool("summarise", "summarise")
    for value in values(rest, draft) or [draft.last()]:
        args: dict[str, Any] = {"text": _each_text(value, draft)} | ({"sentences": sentences} if sentences else {})
        draft.add(tool, args, noun="summary")
    return True


def _each_text(value: Value, draft: Draft) -> str:
    """The text of a value; a list is gone through item by item, and listed files are read first."""
    if value.is_list and not value.item and value.noun in ("list", "passages", "text", "summary", "translation"):
        draft.each = value
        value = draft.item()
    if value.item and draft.each is not None and draft.each.noun == "list":
        draft.each = read(value, draft)
        value = draft.item()
    return as_text([value], draft)


def _sentences(tokens: list[Token]) -> tuple[list[Token], int | None]:
    at = next((n for n, t in enumerate(tokens) if t.means("sentences")), None)
    if not at or tokens[at - 1].kind != "number" or not str(tokens[at - 1].value).isdigit():
        return tokens, None
    start = at - 1
    while start and tokens[start - 1].means("in", "to", "with", "by", "obj"):
        start -= 1
    return tokens[:start] + tokens[at + 1 :], int(tokens[at - 1].value)


def translate(tokens: list[Token], draft: Draft) -> bool:
    """ "translate it to German", 把a.txt翻译成英文."""
    parts = slots(tokens, ("translate",), {"to": "language"})
    if parts is None:
        return False
    language = [t for t in parts.get("language", []) if not t.means("the")]
    if len(language) != 1:
        raise NotUnderstood("the argument 'language' of the tool translate is missing: say “translate … to German”")
    name = str(language[0].value)
    name = name.removeprefix("language ") if name.startswith("language ") else language[0].text
    tool = draft.tool("translate", "translate")
    for value in values(without(parts.get(OBJECT, []), "what"), draft) or [draft.last()]:
        draft.add(tool, {"text": _each_text(value, draft), "language": name}, noun="translation")
    return True


def compare(tokens: list[Token], draft: Draft) -> bool:
    """ "compare a.txt and b.txt": both are counted and the difference is calculated; nothing else can be compared."""
    if not any(t.means("compare") for t in tokens):
        return False
    rest = [
        t
        for t in tokens
        if not t.means("compare", "what", "the", "also", "obj", "poss", "words", "word count", "count", "with", "to")
        and t.text.lower() not in ("or", "than", "length", "lengths", "is", "size", "sizes", "长度")
    ]
    found = values(rest, draft)
    if len(found) == 1 and not found[0].is_list and any(t.means("it") for t in rest) and len(draft.values) > 1:
        found = draft.plural()
    if len(found) != 2:
        raise NotUnderstood(f"two things are needed to compare, and {len(found)} are named")
    counter = draft.tools.get("count_words")
    numbers = [
        draft.add(counter, {"path": v.argument("path")}, noun="number")
        if counter and v.kind in ("path", "input")
        else v
        for v in found
    ]
    operands = [f.reference(str(v.argument("number"))) if v.step else f.number(str(v.literal)) for v in numbers]
    if any("None" in o.text for o in operands):
        raise NotUnderstood("only numbers and the numbers of words of files can be compared")
    expression = f.binary("-", operands[0], operands[1])
    draft.add(
        draft.tool("calculator", "compare"),
        {"expression": expression.text},
        noun="number",
        why="compared by number: the first less the second",
    )
    return True
