"""What stands between the marks of a tool call: JSON, a name and JSON, XML in several dialects, Python, Gemma's own."""

import json
import re
from collections.abc import Callable
from typing import Any

from nodes.reading.arguments import call_from, call_of
from nodes.reading.objects import data_at, next_outside
from nodes.reading.pythonic import looks_like_a_call, pythonic_calls
from nodes.reading.record import Call
from nodes.reading.values import unfenced

_INNER = re.compile(r"<[｜|]tool[▁_]call[▁_](?:begin|end)[｜|]>|<\|tool_call_(?:begin|end)\|>")
_BETWEEN = re.compile(r"(?:<[｜|]tool[▁_]sep[｜|]>|<\|tool_call_argument_begin\|>|\[CALL_ID\][\w-]*|\[ARGS\]|\s)+")
_NAMED = re.compile(
    rf"(?:call:|function(?=<[｜|]))?(?:<[｜|]tool[▁_]sep[｜|]>)?\s*([^\W\d][\w.:-]*)({_BETWEEN.pattern})?(?=[{{`])"
)
_FUNCTION = re.compile(r"<function(?:=| name=)[\"']?([\w.-]+)[\"']?>(.*?)(</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter(?:=| name=)[\"']?([\w.-]+)[\"']?>(.*?)</parameter>\s*", re.DOTALL)
_INVOKE = re.compile(r"<(｜DSML｜)?invoke name=[\"']([\w.-]+)[\"']\s*>(.*?)</(?:｜DSML｜)?invoke>", re.DOTALL)
_INVOKED = re.compile(
    r"<(?:｜DSML｜)?parameter name=[\"']([\w.-]+)[\"']([^>]*)>(.*?)</(?:｜DSML｜)?parameter>\s*", re.DOTALL
)
_GLM = re.compile(r"\s*([^\W\d][\w.-]*)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)", re.DOTALL)
_GLM_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_GEMMA_TEXT = re.compile(r"(<\|\"\|>|<escape>)(.*?)\1", re.DOTALL)


def calls_in_body(body: str, *, closed: bool = True) -> list[Call]:
    """The calls of a marked text; empty where it is in no known form, or open in a form that needs an end."""
    readers = _READERS if closed else _READERS[:-1]
    return next((calls for read in readers if (calls := read(body.strip()))), [])


def _split(body: str) -> list[Call]:
    """DeepSeek and Kimi: several calls, each between marks of its own."""
    if not _INNER.search(body):
        return []
    calls: list[Call] = []
    for piece in _pieces(body):
        calls += _json(piece) or _named(piece) or [Call("", None, "a tool call that can't be read")]
    return calls


def _pieces(body: str) -> list[str]:
    pieces, place = [], 0
    while mark := next_outside(_INNER, body, place):
        pieces.append(body[place : mark.start()])
        place = mark.end()
    return [piece.strip() for piece in (*pieces, body[place:]) if piece.strip()]


def _json(body: str) -> list[Call]:
    """One call or several as JSON, one after the other."""
    body, calls, place = unfenced(body), [], 0
    while place < len(body):
        found = data_at(body, place) if body[place] in "{[" else None
        if not found:
            return (
                [Call("", None, "a tool call whose JSON is broken or cut")]
                if body[0] in "{[" and _jsonish(body)
                else []
            )
        for record in found[0] if isinstance(found[0], list) else [found[0]]:
            calls.append(call_from(record) or Call("", None, "a tool call without a name"))
        place = found[1] + len(body[found[1] :]) - len(body[found[1] :].lstrip(" \t\r\n;,"))
    return calls


def _jsonish(body: str) -> bool:
    return bool(re.match(r"[\[{\s]*[\"']", body))


def _named(body: str) -> list[Call]:
    """Mistral, DeepSeek, Kimi: a name, then its arguments as JSON; several may follow each other."""
    if not (named := _NAMED.match(body)):
        return []
    arguments = unfenced(body[named.end() :])
    found = data_at(arguments, 0)
    if found and found[1] == len(arguments):
        return [call_of(named[1], found[0])]
    return [call_of(named[1], _gemma(arguments) or arguments)]


def _gemma(arguments: str) -> str:
    """Gemma marks its texts by tokens of its own."""
    return _GEMMA_TEXT.sub(lambda text: _quoted(text[2]), arguments) if _GEMMA_TEXT.search(arguments) else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _functions(body: str) -> list[Call]:
    """Qwen's coder and Llama: `<function=name>` with parameters as tags, or with JSON; tags must be closed."""
    calls = []
    for found in _FUNCTION.finditer(body):
        if not found[3] and not found[2].strip().startswith("{"):
            calls.append(Call(found[1], None, f"the call of {found[1]} is cut"))
        else:
            calls.append(_tagged(found[1], found[2], _PARAMETER, lambda one: (one[1], _typed(one[2]))))
    return calls


def _invokes(body: str) -> list[Call]:
    """MiniMax and DeepSeek: `<invoke name="...">` with parameters as tags."""
    return [
        _tagged(found[2], found[3], _INVOKED, lambda one: (one[1], _typed(one[3], only_text='string="true"' in one[2])))
        for found in _INVOKE.finditer(body)
    ]


def _tagged(name: str, inside: str, pattern: re.Pattern[str], pair: Callable[[re.Match[str]], tuple[str, Any]]) -> Call:
    """A call from tags; what is left beside them makes it unreadable."""
    if pattern.sub("", inside).strip():
        return call_of(name, inside)
    pairs = [pair(one) for one in pattern.finditer(inside)]
    if len(dict(pairs)) < len(pairs):
        return Call(name, None, f"the arguments of {name} can't be used: a parameter is given twice")
    return call_of(name, dict(pairs))


def _glm(body: str) -> list[Call]:
    found = _GLM.fullmatch(body)
    if not found or (not found[2] and "<" in body):
        return []
    pairs = [(pair[1].strip(), _typed(pair[2])) for pair in _GLM_PAIR.finditer(found[2])]
    if len(dict(pairs)) < len(pairs):
        return [Call(found[1], None, f"the arguments of {found[1]} can't be used: a parameter is given twice")]
    return [call_of(found[1], dict(pairs))]


def _typed(text: str, *, only_text: bool = False) -> Any:
    """A value between tags: an object or a list where it is one; else text, which the tool's schema may convert."""
    plain = text.removeprefix("\n").removesuffix("\n")
    found = data_at(plain, 0) if plain[:1] in ("{", "[") and not only_text else None
    return found[0] if found and found[1] == len(plain) else plain


def _python(body: str) -> list[Call]:
    return pythonic_calls(body) if looks_like_a_call(body) else []


_READERS = (_split, _functions, _invokes, _json, _python, _named, _glm)
