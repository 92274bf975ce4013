"""Requests that work on a text: summarise, translate."""

from typing import Any

from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.nouns import as_text, read, values
from nodes.offline.slots import OBJECT, slots, without
from nodes.offline.tokens import Token


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
