"""YAML as JSON in another dress: mappings with text keys, lists, and the scalars of JSON, each at a known line.

No dates, no yes and no, no octal numbers, no tags, no aliases, no key twice: what a file says is what it means. Leaves
out: what the values are for (`nodes/plan_file.py`).
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

Place = tuple[str | int, ...]
Lines = dict[Place, int]
"""The line at which the value of a place stands, counted from 1."""
_SCALARS: dict[str, tuple[re.Pattern[str], list[str], Callable[[str], Any]]] = {
    "tag:yaml.org,2002:null": (re.compile(r"~|null|"), ["~", "n", ""], lambda text: None),
    "tag:yaml.org,2002:bool": (re.compile(r"true|false"), ["t", "f"], lambda text: text == "true"),
    "tag:yaml.org,2002:int": (re.compile(r"-?(0|[1-9][0-9]*)"), list("-0123456789"), int),
    "tag:yaml.org,2002:float": (
        re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?"), list("-0123456789"), float,
    ),
}  # fmt: skip
_TEXT = "tag:yaml.org,2002:str"
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
"""What YAML takes for an infinity, or for no number at all."""
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that only stay themselves as escapes."""


class YamlFault(ValueError):
    """What is wrong, and at which line (0 where that is not known)."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in PyYAML


class _Dumper(yaml.SafeDumper):
    """Quotes what this or any other reader of YAML could take for something else than a text."""

    yaml_implicit_resolvers = {key: list(found) for key, found in yaml.SafeDumper.yaml_implicit_resolvers.items()}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    """A text of several lines stands as such, where that is safe."""
    return dumper.represent_scalar(_TEXT, text, style='"' if _ODD.search(text) else "|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
for _tag, (_pattern, _first, _) in _SCALARS.items():
    _whole = re.compile(f"(?:{_pattern.pattern})$")
    _Loader.add_implicit_resolver(_tag, _whole, _first)
    _Dumper.add_implicit_resolver(_tag, _whole, _first)


def read_yaml(text: str) -> tuple[Any, Lines]:
    """The value of a text, and where its parts stand; raises `YamlFault`."""
    lines: Lines = {}
    try:
        node = yaml.compose(text, Loader=_Loader)
        return (None if node is None else _value(node, (), lines, set())), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlFault(error.problem or "it can't be read", mark.line + 1 if mark else 0) from error
    except yaml.YAMLError as error:
        raise YamlFault(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise YamlFault("it is nested too deep") from error


def write_yaml(value: Any) -> str:
    """The text of a JSON-plain value; reading it gives the same value."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _value(node: yaml.Node, place: Place, lines: Lines, seen: set[int]) -> Any:
    line = node.start_mark.line + 1
    lines[place] = line
    if id(node) in seen:
        raise YamlFault("a value with an alias (&name, *name) stands here; write it twice", line)
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode) and node.tag.endswith(":map"):
        return dict(_items(node, place, lines, seen))
    if isinstance(node, yaml.SequenceNode) and node.tag.endswith(":seq"):
        return [_value(item, (*place, n), lines, seen) for n, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and node.tag in (_TEXT, *_SCALARS):
        if node.style is None and _NO_NUMBER.fullmatch(node.value):
            raise YamlFault(f"{node.value} is no number in JSON; a text of that form stands in quotes", line)
        return node.value if node.tag == _TEXT else _scalar(node, line)
    raise YamlFault(f"the tag {node.tag} is not taken; write plain values", line)


def _items(node: yaml.MappingNode, place: Place, lines: Lines, seen: set[int]) -> Iterator[tuple[str, Any]]:
    keys: set[str] = set()
    for key, item in node.value:
        line, name = key.start_mark.line + 1, key.value
        if not isinstance(key, yaml.ScalarNode) or key.tag != _TEXT:
            raise YamlFault(f"a key must be a text; write it in quotes: {json.dumps(str(name)[:60])}", line)
        if name in keys:
            raise YamlFault(f"the key {name!r} stands here twice", line)
        keys.add(name)
        yield name, _value(item, (*place, name), lines, seen)
        lines[(*place, name)] = line


def _scalar(node: yaml.ScalarNode, line: int) -> Any:
    pattern, _, make = _SCALARS[node.tag]
    if not pattern.fullmatch(node.value):  # a tag that was written out, such as !!int x
        raise YamlFault(f"{node.value!r} is no {node.tag.rpartition(':')[2]}", line)
    try:
        value = make(node.value)
    except ValueError as error:
        raise YamlFault(f"the number has {len(node.value)} digits", line) from error
    if isinstance(value, float) and not math.isfinite(value):
        raise YamlFault(f"the number {node.value} is too large", line)
    return value
