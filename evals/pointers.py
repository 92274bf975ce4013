"""References as the recorded sets have them: a JSON pointer into the arguments, one into an earlier observation."""

import copy
from collections.abc import Mapping
from typing import Any


def referring(args: Mapping[str, Any], refs: Mapping[str, str], seen: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with a canonical reference in the place of each value that an observation in `seen` holds."""
    changed = copy.deepcopy(dict(args))
    for place, source in refs.items():
        step, _, path = source.partition("#")
        if step in seen:
            _set(changed, _keys(place), f"${{steps.{step}{_path(seen[step], _keys(path))}}}")
    return changed


def _keys(pointer: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def _set(value: Any, keys: list[str], put: str) -> None:
    for key in keys[:-1]:
        value = value[int(key) if isinstance(value, list) else key]
    value[int(keys[-1]) if isinstance(value, list) else keys[-1]] = put


def _path(value: Any, keys: list[str]) -> str:
    """The path in our form; whether a number is a place in a list or a key, the observation says."""
    path = ""
    for key in keys:
        path += f"[{key}]" if isinstance(value, list) else f'."{key}"'
        value = value[int(key) if isinstance(value, list) else key]
    return path
