"""Data inside a prompt: fenced, JSON-encoded, so that nothing in it can end the fence or play a role."""

import json
import re
from typing import Any

from state.json_text import from_json

BLOCK = re.compile(r"<(\w+)>\n(.*?)\n</\1>", re.DOTALL)
"""A fenced block: its name and its JSON."""


def fence(name: str, value: Any) -> str:
    """One named block of data; `<` is escaped inside, every other character arrives as it is."""
    text = json.dumps(value, ensure_ascii=False, default=str).replace("<", "\\u003c")
    return f"<{name}>\n{text}\n</{name}>"


def read_fences(text: str) -> dict[str, Any]:
    """The blocks of a prompt by name, as the offline planner reads them."""
    return {name: from_json(body) for name, body in BLOCK.findall(text)}
