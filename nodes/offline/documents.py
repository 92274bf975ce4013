"""Requests about documents: read, search, compare."""

from collections.abc import Sequence
from typing import Any

from nodes.offline import formula as f
from nodes.offline.concepts import OPERATORS
from nodes.offline.draft import Draft, NotUnderstood
from nodes.offline.nouns import as_paths, as_text, read, values
from nodes.offline.slots import only
from nodes.offline.tokens import Token


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
    while rest and rest[0].means("of", "in", "the", "from") and len(rest) > 1 and not rest[1].means("folder"):
        rest = rest[1:]
    rest = [t for t in rest if not (t.means("in") and t is rest[-1])]
    if not any(t.kind == "path" or t.means("each", "file", "it", "them", "all") for t in rest) or any(
        t.kind == "quote" for t in rest
    ):
        return False
    for path in as_paths(values(rest, draft), draft, "read it"):
        read(path, draft)
    return True


_ELSEWHERE = {"web", "internet", "online", "网络", "网上", "互联网", "因特网"}


def says_search(tokens: Sequence[Token]) -> bool:
    """Whether the request names searching or documents, and not merely finding."""
    return any(t.means("documents") or t.text.lower().startswith(("search", "look", "搜", "检索")) for t in tokens)


def search(tokens: list[Token], draft: Draft, text: str, rivals: Sequence[str] = ()) -> bool:
    """ "search for X", "find the 5 documents about X": everything behind the verb is the query."""
    at = next((n for n, t in enumerate(tokens) if t.means("search")), None)
    if at is None or not only(tokens[:at], "the", "also", "obj", "in", "documents", "what", "from", "poss"):
        return False
    if not says_search(tokens) and any(str(t.value) in OPERATORS for t in tokens):
        return False
    if rivals and not any(t.means("documents") for t in tokens):
        raise NotUnderstood(
            f"it could mean the documents or {rivals[0]}; say “search the documents for …” or name the tool"
        )
    tool = draft.tool("search", "search the documents")
    rest, limit = _limit(tokens[at + 1 :])
    rest = _query(rest)
    _only_documents(rest)
    if all(t.kind == "quote" for t in rest):
        query: Any = " ".join(str(t.value) for t in rest)
    elif len(rest) == 1 and (rest[0].means("it") or rest[0].kind == "value"):
        query = as_text(values(rest, draft), draft)
    else:
        query = text[rest[0].start : rest[-1].end]
    args: dict[str, Any] = {"query": query} | ({"limit": limit} if limit and "limit" in tool.parameters else {})
    draft.add(tool, args, noun="passages")
    return True


def _only_documents(query: list[Token]) -> None:
    """Raises `NotUnderstood` where there is no query, or one that would search anywhere else than in all documents."""
    if not query:
        raise NotUnderstood("it is not said what to search for")
    if query[0].text.lower() in _ELSEWHERE:
        raise NotUnderstood("only the documents are searched here, not the web")
    if one := next((t for t in query if t.kind == "path"), None):
        raise NotUnderstood(f"a search reads all documents; to search for the words {one.text}, put them in quotes")


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
    inside = False
    while tokens and (
        (tokens[0].means(*front) and (inside or not _may_be_cut(tokens[0])))
        or tokens[0].text.lower() in ("results", "passages", "for", "me", ":", "：", "条")
    ):
        inside = tokens[0].means("documents")
        tokens = tokens[1:]
    while tokens and (
        (tokens[-1].means("poss", "documents") and not _may_be_cut(tokens[-1]) and tokens[-1].text[0] > "\u3400")
        or tokens[-1].text in ".。!！"
    ):
        tokens = tokens[:-1]
        if tokens and tokens[-1].means("poss"):
            tokens = tokens[:-1]
    return tokens


def _may_be_cut(token: Token) -> bool:
    """Whether a small Chinese word may be the beginning or end of a longer one, as in 上海, 用户 and 目的."""
    return token.text[0] > "\u3400" and len(token.text) == 1


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
        raise NotUnderstood(f"two things are needed to compare, not {len(found) or 'none'}")
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
