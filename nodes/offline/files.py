"""Requests that list, write, copy, compress and mail files."""

from typing import Any

from nodes.offline.concepts import PHRASES
from nodes.offline.draft import Draft, NotUnderstood, Value, literal
from nodes.offline.filesets import file_set
from nodes.offline.nouns import as_paths, as_text, input_named, values
from nodes.offline.slots import OBJECT, only, slots, without
from nodes.offline.texts import meant
from nodes.offline.tokens import Token

_TARGET = {"to": "target", "in": "target", "named": "target"}


def list_files(tokens: list[Token], draft: Draft) -> bool:
    """ "list all md files in docs"."""
    at = next((n for n, t in enumerate(tokens) if t.means("list", "search", "what", "listing")), None)
    if at is None or not any(t.means("file") or (t.kind == "path" and "*" in t.value) for t in tokens):
        return False
    rest = [
        t
        for t in without(tokens, "also", "what", "list", "search", "obj", "listing")
        if t.text.lower() not in ("are", "there", "is")
    ]
    while rest and rest[-1].means("in") and len(rest) > 1:
        rest = rest[:-1]
    if [t for t in rest if t.means("file")] and not any(t.means("all", "each") for t in rest):
        rest = _all(rest)
    found = file_set(rest, 0, draft)
    draft.each = None
    return found is not None and only(rest[found[1] :], "the", "of", "poss")


def _all(tokens: list[Token]) -> list[Token]:
    """A list of "the files" means all of them."""
    at = next(n for n, t in enumerate(tokens) if t.means("file"))
    word = tokens[at]
    return [*tokens[:at], Token("word", "files", "file", word.start, word.end), *tokens[at + 1 :]]


def write(tokens: list[Token], draft: Draft) -> bool:
    """ "write it to a.txt", "create a file a.txt with the text 'hi'", 把它写入a.txt."""
    parts = slots(tokens, ("write", "create"), _TARGET | {"with": "text"})
    if parts is None or any(t.means("mail") for t in tokens):
        return False
    tool = draft.tool("write_file", "write a file")
    target, what = parts.get("target", []), parts.get(OBJECT, [])
    if not any(t.kind == "path" for t in target) and any(t.kind == "path" for t in what):
        at = next(n for n, t in enumerate(what) if t.kind == "path")
        before, behind = what[:at], what[at + 1 :]
        target, what = [*target, what[at]], before + behind
    text = _text(without(what, "file", "named") + parts.get("text", []), draft)
    draft.add(tool, {"path": _target(target, draft, "path", tool.name), "text": text}, noun="file")
    return True


def _text(tokens: list[Token], draft: Draft) -> str:
    if not without(tokens, "the", "content", "of", "poss", "down", "file"):
        return as_text([draft.last()], draft)
    if (bare := _bare_words(tokens)) and not any(input_named(token, draft) for token in tokens):
        return bare
    return as_text([_whole_list(value, draft) for value in meant(tokens, draft)], draft)


def _bare_words(tokens: list[Token]) -> str:
    """Words that mean nothing else here, as they are written."""
    unknown = all(token.kind == "word" and token.value not in PHRASES for token in tokens)
    return " ".join(token.text for token in tokens) if unknown else ""


def _whole_list(value: Value, draft: Draft) -> Value:
    """A list as a whole, where one text is wanted."""
    return draft.each if value.item and draft.each is not None else value


def _target(tokens: list[Token], draft: Draft, argument: str, tool: str) -> str:
    found = [
        t
        for t in tokens
        if not t.means("the", "file", "named", "folder", "also", "of", "in", "poss", "to") and t.kind != "mark"
    ]
    if len(found) != 1:
        raise NotUnderstood(
            f"the argument {argument!r} of the tool {tool} is missing: name the file"
            if not found
            else f"“{found[1].text}” is not understood as a part of the file's name"
        )
    token = found[0]
    if token.kind in ("path", "quote", "name"):
        return str(token.value)
    if token.kind == "word" and token.text in draft.inputs:
        return f"${{steps.inputs.{token.text}}}"
    if (
        token.kind == "word"
        and (any(t.means("folder") for t in tokens) or argument == "target")
        and not token.means("it", "them", "each")
    ):
        return f"{token.text}/"
    raise NotUnderstood(f"“{token.text}” is no file name for the argument {argument!r} of the tool {tool}")


def copy(tokens: list[Token], draft: Draft) -> bool:
    """ "copy a.txt to b.txt", "copy each md file into backup/"."""
    parts = slots(tokens, ("copy",), {"to": "target", "named": "target"})
    if parts is None:
        return False
    what, target = _split_target(parts)
    tool = draft.tool("copy_file", "copy a file")
    found = as_paths(values(what, draft) or [draft.last()], draft, "copy it")
    goal = _target(target, draft, "target", tool.name)
    if (len(found) > 1 or found[0].item) and not goal.endswith("/") and "." in goal:
        raise NotUnderstood(f"several files can't be copied to the one file {goal!r}; name a folder, such as backup/")
    for value in found:
        draft.add(tool, {"source": value.argument("path"), "target": goal}, noun="copy")
    return True


def _split_target(parts: dict[str, list[Token]]) -> tuple[list[Token], list[Token]]:
    """ "the files in docs to backup/": only the last mark names the target, the ones before belong to the object."""
    what, target = parts.get(OBJECT, []), parts.get("target", [])
    paths = [n for n, t in enumerate(target) if t.kind == "path"]
    if not what and len(paths) == 2:
        return target[: paths[1]], target[paths[1] :]
    return what, target


def compress(tokens: list[Token], draft: Draft) -> bool:
    """ "compress a.txt and b.txt into c.zip"; without a name the tool names the archive."""
    parts = slots(tokens, ("compress",), {"to": "target", "named": "target"})
    if parts is None:
        return False
    tool = draft.tool("compress", "compress")
    found = values(parts.get(OBJECT, []), draft) or [draft.last()]
    args: dict[str, Any] = {"paths": path_list([_whole_list(v, draft) for v in found], draft, "compress")}
    if without(parts.get("target", []), "the", "file"):
        name = [t for t in parts["target"] if t.text.lower() not in ("archive", "zip", "a")] or parts["target"]
        if not (len(without(parts["target"], "the", "file")) == 1 and name[0].kind == "word"):
            args["archive"] = _target(name, draft, "archive", tool.name)
    draft.each = None
    draft.add(tool, args, noun="archive")
    return True


def path_list(found: list[Value], draft: Draft, purpose: str) -> Any:
    """Paths as one list argument: a whole list by one reference, single files side by side."""
    if len(found) == 1 and found[0].is_list and not found[0].item:
        return found[0].argument("paths")
    return [value.argument("path") for value in as_paths(found, draft, purpose)]


def mail(tokens: list[Token], draft: Draft, text: str) -> bool:
    """ "mail it to bob@example.com with subject 'x'": files are attached, texts and numbers are the body."""
    marks = {"to": "to", "subject": "subject", "body": "body", "with": "with", "about": "subject", "attach": "attach"}
    parts = slots(tokens, ("send", "mail"), marks)
    if parts is None or not (draft.tools.get("send_mail") or any(t.kind == "mail" for t in tokens)):
        return False
    tool = draft.tool("send_mail", "send a mail")
    to = [str(t.value) for t in tokens if t.kind == "mail"]
    names = [t for t in parts.get("to", []) if t.kind == "word" and t.text in draft.inputs]
    to += [f"${{steps.inputs.{t.text}}}" for t in names]
    if not to:
        raise NotUnderstood(
            "the argument 'to' of the tool send_mail is missing: name an address such as team@example.com"
        )
    body, files = _content(parts, draft)
    subject = (
        as_text(values(_quiet(parts.get("subject", [])), draft), draft) if _quiet(parts.get("subject", [])) else ""
    )
    why = "" if subject and body else "what was not said is filled in: subject or body"
    args: dict[str, Any] = {
        "to": to[0] if len(to) == 1 else to,
        "subject": subject or _subject(files, text),
        "body": body or "See the attached file.",
    }
    if files:
        args["attachments"] = files if len(files) > 1 or not str(files[0]).endswith("[*].path}") else files[0]
    draft.each = None
    draft.add(tool, args, noun="mail", why=why)
    return True


def _content(parts: dict[str, list[Token]], draft: Draft) -> tuple[str, list[Any]]:
    """Body and attachments: what was named as such, and the object by what it is."""
    texts = meant(_quiet(parts.get("body", [])), draft)
    attached = values(_quiet(parts.get("attach", [])), draft)
    names = {token.text for token in parts.get("to", []) if token.text in draft.inputs}
    loose = [t for slot in (OBJECT, "with", "to") for t in _quiet(parts.get(slot, [])) if t.text not in names]
    found = meant(loose, draft)
    if not (texts or attached or found):
        found = [draft.last()]
    for value in found:
        (attached if _is_file(value) else texts).append(value)
    if texts and any(v.item for v in texts):
        texts = [_whole_list(v, draft) for v in texts]
    files = [v.argument("paths" if v.is_list else "path") if not v.source else v.source for v in attached]
    return as_text(texts, draft) if texts else "", files


def _is_file(value: Value) -> bool:
    return value.kind == "path" or value.noun in ("archive", "copy", "file")


def _quiet(tokens: list[Token]) -> list[Token]:
    tokens = [
        t
        for t in tokens
        if t.kind != "mail"
        and not t.means("the", "mail", "send", "also", "with", "attach", "subject", "body", "to")
        and t.kind != "mark"
    ]
    while tokens and tokens[-1].means("and", "of"):
        tokens = tokens[:-1]
    return [t for t in tokens if t.text.lower() not in ("is", "people", "team", "是", "为")]


def _subject(files: list[Any], text: str) -> str:
    named = [str(name).rpartition("/")[2] for name in files if not str(name).startswith("${")]
    chinese = any("\u3400" <= character <= "\u9fff" for character in text)
    default = ("文件" if chinese else "Files") if files else ("结果" if chinese else "Result")
    return ", ".join(named) or default


__all__ = ["compress", "copy", "list_files", "literal", "mail", "path_list", "write"]
