"""Requests that work on a text: summarise, translate."""

from typing import Any

from nodes.offline.arithmetic import formula_of
from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.nouns import as_text, read, values
from nodes.offline.slots import OBJECT, slots, without
from nodes.offline.tokens import Token


def summarise(tokens: list[Token], draft: Draft) -> bool:
    """ "summarise it in 3 sentences", 用三句话总结a.txt."""
    rest, sentences = _sentences(tokens)
    if not _asks_summary([t for t in rest if not t.means("also", "the")]):
        return False
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


def meant(tokens: list[Token], draft: Draft) -> list[Value]:
    """What a phrase stands for, also where that must be made first: the summary of a.txt, the sum of 3 and 4."""
    words = without(tokens, "the", "also")
    if len(words) > 1 and words[0].means("summary", "summarise") and words[1].means("of"):
        summarise(words, draft)
        return draft.values[-1:]
    found = formula_of(tokens, draft) if tokens else None
    if found is None:
        return values(tokens, draft)
    return [draft.add(draft.tool("calculator", "calculate"), {"expression": found.text}, noun="number")]


def _asks_summary(tokens: list[Token]) -> bool:
    """summarise … first, or make a summary of …; in Chinese anywhere."""
    first = next((n for n, t in enumerate(tokens) if t.means("summarise", "summary")), None)
    if first is None:
        return False
    in_chinese = tokens[first].text[0] >= "\u3400" and not any(t.means("write", "send", "mail") for t in tokens)
    return in_chinese or all(t.means("create", "what", "calc", "search", "read") for t in tokens[:first])


def _each_text(value: Value, draft: Draft) -> str:
    """The text of a value; a list is gone through item by item, and listed files are read first."""
    if value.kind == "number":
        raise NotUnderstood("a number is meant, where a text or a file is needed")
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
