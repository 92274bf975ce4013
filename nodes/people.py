"""What people decided and said in a run, as its report tells it."""

from collections.abc import Mapping
from typing import Any

from state.errors import shorten
from state.plan import canonical

_DID = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "answered"}


def told_people(approvals: Mapping[str, Any]) -> list[str]:
    """One line for each answer; a value that came from a person is named as one."""
    return [f"{_about(answer)}: {_said(answer)}" for answer in approvals.values()]


def _about(answer: Mapping[str, Any]) -> str:
    if answer["kind"] == "plan":
        return f"plan {answer['version']}"
    return f"step {answer['step']} ({answer['tool']})" if answer["step"] else f"input {answer.get('input', '')}"


def _said(answer: Mapping[str, Any]) -> str:
    kind, word, who = answer["kind"], answer["type"], answer.get("by") or "a person"
    if word == "respond" and kind != "plan":
        what = answer.get("argument") or ("" if "input" in answer else "the result")
        return f"{f'{what} = ' if what else ''}{shorten(canonical(answer['value']), 200)} comes from {who}"
    if word == "edit" and kind != "plan":
        return f"the arguments come from {who}: {shorten(canonical(answer['args']), 200)}"
    more = answer.get("message") or answer.get("value")
    return f"{_DID[word]} by {who}{f': {shorten(str(more), 200)}' if more else ''} ({kind})"
