"""Tool calls that a model wrote into its text: found by the marks of its family, or bare.

Hermes, Qwen, GLM, Llama, Mistral, DeepSeek, Kimi, Granite, Phi, Nemotron, Jamba, InternLM, Command, MiniMax, Gemma.
Marks inside JSON data are data. A marked call that can't be read is a call with a problem, never an answer.
"""

import re
from dataclasses import dataclass
from typing import Any

from nodes.reading.arguments import call_from, is_plain_call
from nodes.reading.bodies import calls_in_body
from nodes.reading.objects import next_outside, values_in
from nodes.reading.pythonic import looks_pythonic, pythonic_calls
from nodes.reading.record import Call
from nodes.reading.values import decode_at, unfenced

_MARKS = (
    (r"<(?P<tag>tool_calls?|toolcalls?|function_calls?|tools|tool_code)>", r"</{tag}>"),
    (r"<(?P<space>\w+:tool_call)>", r"</{space}>"),
    (r"<｜DSML｜function_calls>", r"</｜DSML｜function_calls>"),
    (r"<\|tool_call\|?>", r"<\|?/?tool_call\|>"),
    (r"<start_function_call>", r"<end_function_call>"),
    (r"\[TOOL_CALL\]", r"\[/TOOL_CALL\]"),
    (r"\[TOOL_REQUEST\]", r"\[END_TOOL_REQUEST\]"),
    (r"<\|tool_call_start\|>", r"<\|tool_call_end\|>"),
    (r"<\|tool_calls_section_begin\|>", r"<\|tool_calls_section_end\|>"),
    (r"<[｜|]tool[▁_]calls[▁_]begin[｜|]>", r"<[｜|]tool[▁_]calls[▁_]end[｜|]>"),
    (r"<[｜|]tool[▁_]call[▁_]begin[｜|]>", r"<[｜|]tool[▁_]call[▁_]end[｜|]>"),
    (r"<\|action_start\|>\s*<\|plugin\|>", r"<\|action_end\|>"),
    (r"<\|START_ACTION\|>", r"<\|END_ACTION\|>"),
    (r"<\|python_start\|>", r"<\|python_end\|>"),
    (r"<\|python_tag\|>", r"<\|e(?:om|ot)_id\|>"),
    (r"\[TOOL_CALLS\]", r"(?=\[TOOL_CALLS\])|</s>"),
    (r"^\s*functools(?=\[)", r"\Z"),
    (r"```(?:tool_code|tool_calls?|function_call)\n", r"\n?```"),
    (r"(?=<(?:function|invoke)(?:=| name=)[\"']?[\w.-]+)", r"(?<=</function>)|(?<=</invoke>)"),
)
_TAGS = re.compile("|".join(f"(?:{begin})" for begin, _ in _MARKS), re.IGNORECASE)
_BEGINS_CALL = re.compile(
    r"(?:\s*```\w*\s)?\s*\[?\s*\{\s*[\"'](?:name|function|tool_calls?)[\"']\s*:.*[\"'](?:arguments|parameters)[\"']\s*:",
    re.DOTALL,
)
_ENVELOPE = {"tool_calls", "role", "content"}
_STRAY = re.compile(r"</tool_calls?>|</function_calls?>|<[｜|]tool[▁_]calls?[▁_]end[｜|]>|<\|tool_calls_section_end\|>")
UNKNOWN = "a tool call in a form that is not known"


@dataclass(frozen=True)
class Written:
    """The calls in a text, and the text without them."""

    calls: tuple[Call, ...] = ()
    rest: str = ""
    marked: bool = False


def calls_in(text: str) -> Written:
    """Finds the calls in a text from which reasoning was set aside."""
    return _marked(text) if next_outside(_TAGS, text) else _bare(text)


def _marked(text: str) -> Written:
    calls: list[Call] = []
    rest, place = "", 0
    while mark := next_outside(_TAGS, text, place):
        rest += text[place : mark.start()]
        end = next_outside(_end_of(mark, text), text, mark.end())
        body = text[mark.end() : end.start() if end else len(text)]
        if body.strip() or not calls:
            calls += calls_in_body(body, closed=bool(end)) or [Call("", None, UNKNOWN)]
        place = _after(end, mark) if end else len(text)
    return Written(tuple(calls), _STRAY.sub("", rest + text[place:]).strip(), marked=True)


def _after(end: re.Match[str], mark: re.Match[str]) -> int:
    """Where to go on; the same opening mark again ends a call and begins the next."""
    again = bool(mark[0]) and end[0] == mark[0]
    return end.start() if again else max(end.end(), mark.end() + (not mark[0]))


def _end_of(mark: re.Match[str], text: str) -> re.Pattern[str]:
    for begin, end in _MARKS:
        if found := re.compile(begin, re.IGNORECASE).match(text, mark.start()):
            names = found.groupdict()
            again = f"|{re.escape(mark[0])}" if mark[0] else ""
            return re.compile((end.format(**names) if names else end) + again, re.IGNORECASE)
    raise AssertionError("a mark is one of the marks")


def _bare(text: str) -> Written:
    """Calls without a mark: a JSON call or a list of them, or Python's way of writing a list of calls."""
    whole = unfenced(text)
    if looks_pythonic(whole):
        return Written(tuple(pythonic_calls(whole)))
    if whole.startswith("[") and (found := decode_at(whole, 0)) and found[1] == len(whole):
        calls = _plain_calls(found[0]) if found[0] and all(map(is_plain_call, found[0])) else ()
        return Written(calls, "" if calls else text)
    return _in_prose(text)


def _in_prose(text: str) -> Written:
    """JSON calls with prose around them; the prose may quote their arguments."""
    calls: list[Call] = []
    try:
        for value, _, end in values_in(text):
            records = value.get("tool_calls") if isinstance(value, dict) and set(value) <= _ENVELOPE else [value]
            if isinstance(records, list) and records and all(map(is_plain_call, records)):
                broken = text[end:].lstrip()[:1] in ("}", "]")
                calls += [Call("", None, "a tool call with a bracket too many")] if broken else _plain_calls(records)
    except ValueError as error:
        if calls or _BEGINS_CALL.match(text):
            calls.append(Call("", None, f"a tool call that can't be read: {error}"))
    return Written(tuple(calls), "" if calls else text)


def _plain_calls(records: list[Any]) -> tuple[Call, ...]:
    return tuple(call for record in records if (call := call_from(record)))
