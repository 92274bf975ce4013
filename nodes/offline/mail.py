"""Requests that send mail: files are attached, texts and numbers are the body, what is not said is filled in openly."""

from typing import Any

from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.files import bare_words, path_list
from nodes.offline.nouns import as_text, values
from nodes.offline.slots import OBJECT, slots
from nodes.offline.texts import meant
from nodes.offline.tokens import Token

_MARKS = {"to": "to", "subject": "subject", "body": "body", "with": "with", "about": "subject", "attach": "attach"}
_PUNCTUATION = tuple(",，、:：.。;；!！")
Parts = dict[str, list[Token]]


def mail(tokens: list[Token], draft: Draft, text: str) -> bool:
    """ "mail it to bob@example.com with subject 'x'"."""
    parts = slots(tokens, ("send", "mail"), _MARKS)
    if parts is None or not (draft.tools.get("send_mail") or any(t.kind == "mail" for t in tokens)):
        return False
    tool = draft.tool("send_mail", "send a mail")
    to = _recipients(tokens, parts, draft)
    body, files = _content(parts, draft)
    subject = _said(_quiet(parts.get("subject", [])), draft)
    args: dict[str, Any] = {"to": to[0] if len(to) == 1 else to, "subject": subject or _subject(files, text)}
    args["body"] = body or "See the attached file."
    if files:
        args["attachments"] = files
    why = "" if subject and body else "subject or body were not said and are filled in"
    draft.add(tool, args, noun="mail", why=why)
    return True


def _said(tokens: list[Token], draft: Draft) -> str:
    return bare_words(tokens) or (as_text(meant(tokens, draft), draft) if tokens else "")


def _recipients(tokens: list[Token], parts: Parts, draft: Draft) -> list[str]:
    to = [str(t.value) for t in tokens if t.kind == "mail"]
    to += [f"${{steps.inputs.{t.text}}}" for t in parts.get("to", []) if t.kind == "word" and t.text in draft.inputs]
    if to:
        return to
    raise NotUnderstood("the argument 'to' of the tool send_mail is missing: name an address such as team@example.com")


def _content(parts: Parts, draft: Draft) -> tuple[str, Any]:
    """Body and attachments: what was named as such, and the object by what it is."""
    texts = meant(_quiet(parts.get("body", [])), draft)
    attached = values(_quiet(parts.get("attach", [])), draft)
    names = {token.text for token in parts.get("to", []) if token.text in draft.inputs}
    loose = [t for slot in (OBJECT, "with", "to") for t in _quiet(parts.get(slot, [])) if t.text not in names]
    found = meant(loose, draft)
    if not (texts or attached or found):
        found = [draft.last()]
    as_words = any(t.means("list", "listing") for t in loose)
    as_words = as_words or any(t.means("content") for t in loose)
    for value in found:
        (attached if _is_file(value, draft) and not as_words else texts).append(value)
    body = as_text(texts, draft) if texts else ""
    return body, _attachments(attached, draft)


def _attachments(found: list[Value], draft: Draft) -> Any:
    if found and all(value.source for value in found):
        return [value.source for value in found]
    return path_list(found, draft, "attach") if found else []


def _is_file(value: Value, draft: Draft) -> bool:
    """Whether a value is a file or a list of files, or each of such a list."""
    if value.item and draft.each is not None:
        return draft.each.noun in ("list", "copy", "archive", "file")
    return value.kind == "path" or value.noun in ("archive", "copy", "file", "list")


def _quiet(tokens: list[Token]) -> list[Token]:
    tokens = [
        t
        for t in tokens
        if t.kind != "mail"
        and not t.means("the", "mail", "send", "also", "with", "attach", "subject", "body", "to")
        and t.text not in _PUNCTUATION
    ]
    while tokens and tokens[-1].means("and", "of"):
        tokens = tokens[:-1]
    return [t for t in tokens if t.text.lower() not in ("is", "people", "team", "是", "为")]


def _subject(files: Any, text: str) -> str:
    named = [
        str(name).rpartition("/")[2]
        for name in (files if isinstance(files, list) else [])
        if not str(name).startswith("${")
    ]
    chinese = any("\u3400" <= character <= "\u9fff" for character in text)
    default = ("文件" if chinese else "Files") if files else ("结果" if chinese else "Result")
    return ", ".join(named) or default
