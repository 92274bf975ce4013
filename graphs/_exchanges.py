"""What was exchanged with models, tools and people, as text: while a run goes, and later from its recording."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from graphs._words import as_json, one_line, visible

Entry = Mapping[str, Any]


def show_exchange(entry: Entry) -> None:
    """Shows one while the run goes, on standard error."""
    print("\n".join(exchange_lines(entry)), file=sys.stderr, flush=True)


def exchange_lines(entry: Entry) -> Iterator[str]:
    """One exchange in words, whole; nothing that only a replay needs."""
    took = f" ({entry['seconds']:.1f} s)" if "seconds" in entry else ""
    if "request" in entry:
        yield from _model(entry, took)
    elif "tool" in entry:
        yield from _tool(entry, took)
    elif "answer" in entry:
        yield f"--- a person, asked {entry['answer']}: {one_line(as_json(entry['given']), 2000)}"


def _model(entry: Entry, took: str) -> Iterator[str]:
    request = entry["request"]
    way = f", asked as {entry['rung']}" if entry.get("rung") else ""
    step = f" for step {visible(entry['step'])}" if entry.get("step") else ""
    yield f"--- {entry['role']}{step} asks {visible(entry['model'])}{way}{took}"
    for message in request["messages"]:
        yield from _said(message["role"], message.get("content"))
    for name in request.keys() - {"messages"}:
        yield f"[{name}] {visible(as_json(request[name]))}"
    if error := entry.get("error"):
        yield f"[failed] {error['class']}: {visible(error['message'])}"
        return
    data = entry["reply"]["data"] if isinstance(entry["reply"], Mapping) else {"content": entry["reply"]}
    yield from _said("reply", data.get("content"))
    for call in data.get("tool_calls") or []:
        yield f"[reply, call of {visible(call['name'])}] {visible(as_json(call['args']))}"
    if thought := (data.get("additional_kwargs") or {}).get("reasoning_content"):
        yield from _said("reply, thought", thought)


def _said(who: str, content: Any) -> Iterator[str]:
    text = content if isinstance(content, str) else as_json(content)
    yield f"[{who}]"
    yield visible(text)


def _tool(entry: Entry, took: str) -> Iterator[str]:
    part = "" if entry.get("part") is None else f"[{entry['part']}]"
    head = f"--- step {visible(entry['step'])}{part} calls {visible(entry['tool'])} {visible(as_json(entry['args']))}"
    if error := entry.get("error"):
        yield f"{head}{took}\n[try {entry['attempt']} failed] {error['class']}: {visible(error['message'])}"
        return
    outcome = entry["outcome"]
    yield f"{head}{took}, tries: {outcome['attempts']}"
    if failure := outcome["failure"]:
        yield f"[{outcome['status']}] {failure['cls']}: {visible(failure['message'])}"
    else:
        yield f"[{outcome['status']}]{' ' + visible(outcome['note']) if outcome['note'] else ''}"
        yield visible(outcome["output"] if isinstance(outcome["output"], str) else as_json(outcome["output"]))
