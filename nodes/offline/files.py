"""Requests that list, write, copy and compress files."""

from typing import Any

from nodes.offline.concepts import PHRASES
from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.filesets import file_set
from nodes.offline.nouns import as_paths, as_text, input_named, values
from nodes.offline.slots import OBJECT, only, slots, without
from nodes.offline.texts import meant
from nodes.offline.tokens import Token

_TARGET = {"to": "target", "in": "target", "named": "target"}


def list_files(tokens: list[Token], draft: Draft) -> bool:
    """ "list all md files in docs"."""
    at = next(
        (
            n
            for n, t in enumerate(tokens)
            if t.means("list", "search", "what", "listing", "read") or t.text.lower() == "which"
        ),
        None,
    )
    if at is None or not any(t.means("file") or (t.kind == "path" and "*" in t.value) for t in tokens):
        return False
    rest = [
        t
        for t in without(tokens, "also", "what", "list", "search", "obj", "listing", "read")
        if t.text.lower() not in ("are", "there", "is", "which")
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
    if (bare := bare_words(tokens)) and not any(input_named(token, draft) for token in tokens):
        return bare
    return as_text([whole_list(value, draft) for value in meant(tokens, draft)], draft)


def bare_words(tokens: list[Token]) -> str:
    """Words that mean nothing else here, as they are written."""
    unknown = all(token.kind == "word" and token.value not in PHRASES for token in tokens)
    return " ".join(token.text for token in tokens) if unknown else ""


def whole_list(value: Value, draft: Draft) -> Value:
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
    args: dict[str, Any] = {}
    if archive := _archive(parts.get("target", []), draft, tool.name):
        args["archive"] = archive
        found = [whole_list(value, draft) for value in found]
    draft.add(tool, {"paths": path_list(found, draft, "compress"), **args}, noun="archive")
    return True


def _archive(tokens: list[Token], draft: Draft, tool: str) -> str:
    """The archive's name; "into an archive" gives none."""
    name = [t for t in tokens if t.text.lower() not in ("archive", "zip", "the", "an", "a") and not t.means("file")]
    return _target(name, draft, "archive", tool) if name else ""


def path_list(found: list[Value], draft: Draft, purpose: str) -> Any:
    """Paths as one list argument: a whole list by one reference, single files side by side."""
    if len(found) == 1 and found[0].is_list and not found[0].item:
        return found[0].argument("paths")
    if any(value.is_list for value in found) or (len(found) > 1 and any(value.item for value in found)):
        raise NotUnderstood(f"a list of files and other files together are not understood here; {purpose} one list")
    return [value.argument("path") for value in as_paths(found, draft, purpose)]
