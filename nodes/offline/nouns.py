"""What a phrase stands for: a quoted text, a file, "it", "the archive", "each file in docs", an input of the caller."""

from collections.abc import Sequence

from nodes.offline.draft import Draft, NotUnderstood, Value, given, literal
from nodes.offline.filesets import file_set
from nodes.offline.tokens import Token
from tools.stems import stem

_SMALL = {"the", "of", "file", "content", "named", "poss", "also", "obj", "body", "=", ":", "："}
_SEPARATORS = {"and", ",", "，", "、"}
_NOUNS = {
    "compress": "archive", "summary": "summary", "summarise": "summary", "translation": "translation", "copy": "copy",
    "count": "number", "word count": "number", "words": "number", "sum": "number", "product": "number",
    "difference": "number",
    "average": "number", "listing": "list", "list": "list", "translate": "translation", "total": "number",
}  # fmt: skip


def values(tokens: Sequence[Token], draft: Draft) -> list[Value]:
    """The things that a phrase names, in order; raises `NotUnderstood` at a word it can't place."""
    found: list[Value] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        listed = file_set(tokens, at, draft) if token.kind != "value" else None
        if listed is not None:
            value, at = listed
            found.append(value)
            continue
        at += 1
        if token.kind == "word" and at < len(tokens) and tokens[at].means("folder") and not token.means(*_SMALL, "in"):
            found.append(literal(token.text, "path"))
            at += 1
        elif token.means("each"):
            at = _past_each(tokens, at)
            found.append(_each(tokens[at - 1], draft))
        elif not token.means(*_SMALL, *_SEPARATORS, "all", "number"):
            found += _one(token, draft, found)
    return found


def _past_each(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].means("of", "the", "file", "them", "one", "it", "poss", "also"):
        at += 1
    if at < len(tokens) and tokens[at].kind == "word" and not tokens[at].means(*_SEPARATORS):
        at += 1
    return at


def _each(word: Token, draft: Draft) -> Value:
    name = input_named(word, draft, plural=True)
    if name:
        draft.each = given(name)
    elif word.kind == "word" and word.value not in ("each", "of", "the", "file", "them", "one", "it", "poss", "also"):
        raise NotUnderstood(f"it is not clear what “each {word.text}” goes over")
    return draft.item()


def _one(token: Token, draft: Draft, before: Sequence[Value]) -> list[Value]:
    if token.kind == "value":
        return [token.value]
    if token.kind == "path":
        return [literal(token.value, "path")]
    if token.kind in ("quote", "url", "mail", "name", "number"):
        return [literal(token.value, token.kind)]
    if token.means("it"):
        return [draft.last()]
    if token.means("them"):
        return draft.plural()
    if name := input_named(token, draft):
        return [given(name)]
    word = token.text.lower()
    if found := draft.by_noun(_NOUNS.get(str(token.value), word), plural=word.endswith("s")):
        return found
    raise NotUnderstood(f"the word “{token.text}” is not understood here")


def input_named(token: Token, draft: Draft, *, plural: bool = False) -> str | None:
    """The caller's input that a word names."""
    if token.kind not in ("word", "path"):
        return None
    for name in draft.inputs:
        if name.lower() == token.text.lower() or (plural and stem(name) == stem(token.text)):
            return name
    return None


def as_paths(found: Sequence[Value], draft: Draft, purpose: str) -> list[Value]:
    """Values of which each names one file; a list of files becomes "each of them"."""
    paths: list[Value] = []
    for value in found:
        if value.kind == "text" and not value.step:
            raise NotUnderstood(f"“{value.literal}” is a text, where a file is needed to {purpose}")
        if value.source:
            paths.append(literal(value.source, "path"))
        elif value.is_list and not value.item:
            draft.each = value
            paths.append(draft.item())
        elif value.argument("path") is None or value.kind == "number":
            raise NotUnderstood(f"the result of step {value.step or '?'} is no file, which is needed to {purpose}")
        else:
            paths.append(value)
    return paths


def as_text(found: Sequence[Value], draft: Draft) -> str:
    """Values as one text: files are read first, anything that is no text is put into one."""
    parts = [_text(value, draft) for value in found]
    return parts[0] if len(parts) == 1 else "\n".join(part.rstrip("\n") for part in parts) + "\n"


def _text(value: Value, draft: Draft) -> str:
    if value.kind == "path":
        value = read(value, draft)
    if value.kind == "input":
        return f"{value.literal}"
    text = value.argument("text") if value.kind not in ("number", "list") or not value.step else None
    if text is None:
        return f"${{steps.{value.step}}}\n"
    return str(text)


def read(value: Value, draft: Draft) -> Value:
    """The text of a file, by a step that reads it."""
    tool = draft.tool("read_file", "read a file")
    source = str(value.literal) if not value.step else ""
    return draft.add(tool, {"path": value.argument("path")}, noun="text", source=source)
