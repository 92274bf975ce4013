"""Values of parameters as OpenAPI 3 writes them: by `style` and `explode`, or as JSON where it says `content`.

Leaves out: `label` and `matrix`, which are written as `simple`; an object inside an object, which is JSON.
"""

import json
from collections.abc import Mapping
from typing import Any

_BETWEEN = {"spaceDelimited": " ", "pipeDelimited": "|"}


def in_query(name: str, value: Any, parameter: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a query that a value becomes."""
    style = parameter.get("style", "form")
    explode = parameter.get("explode", style == "form")
    if "content" in parameter:
        return {name: _json(value)}
    if isinstance(value, dict) and style == "deepObject":
        return {f"{name}[{key}]": _plain(one) for key, one in value.items()}
    if isinstance(value, dict) and explode:
        return {key: _plain(one) for key, one in value.items()}
    parts = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value
    if isinstance(parts, list):
        plain = [_plain(one) for one in parts]
        return {name: plain if explode else _BETWEEN.get(style, ",").join(plain)}
    return {name: _plain(value)}


def as_text(value: Any, parameter: Mapping[str, Any]) -> str:
    """A value in a path or a header."""
    if "content" in parameter:
        return _json(value)
    if isinstance(value, dict):
        between = "=" if parameter.get("explode") else ","
        return ",".join(f"{key}{between}{_plain(one)}" for key, one in value.items())
    return ",".join(map(_plain, value)) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
