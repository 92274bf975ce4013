"""Names and arguments of calls, in the many ways that servers write them."""

import re
from typing import Any

from nodes.reading.record import Call
from nodes.reading.values import read_value, sound

_NAMES = ("name", "function", "tool", "tool_name", "function_name", "action")
_ARGS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs")
_GOOD_NAME = re.compile(r"[^\W\d][\w.:/-]{0,127}")


def call_of(name: str, arguments: Any, id: str = "") -> Call:
    """A call from its parts; arguments may be an object, a text, or a text encoded twice."""
    plain = clean_name(name)
    if not _GOOD_NAME.fullmatch(plain):
        return Call(plain, None, f"a call without a readable name ({plain[:60]!r})", id)
    try:
        return Call(plain, read_arguments(arguments), id=id)
    except ValueError as error:
        return Call(plain, None, f"the arguments of {plain} can't be used: {error}", id)


def read_arguments(arguments: Any) -> dict[str, Any]:
    """Arguments as an object; raises `ValueError` where they are anything else. Nothing at all is an empty object."""
    for _ in range(3):
        if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
            return {}
        if not isinstance(arguments, str):
            break
        arguments = read_value(arguments)
    if not isinstance(arguments, dict):
        raise ValueError(f"they are a {type(arguments).__name__}, not an object")
    return dict(sound(arguments))


def clean_name(name: str) -> str:
    """A tool's name without what servers leave around it: channel marks, `functions.`, a counter, quotes."""
    plain = re.split(r"<[|｜]", name, maxsplit=1)[0].strip().strip("\"'`").strip()
    if plain.startswith(("functions.", "function.", "default_api.")):
        plain = re.sub(r":\d+$", "", plain.partition(".")[2])
    return plain


def same_name(name: str, wanted: str) -> bool:
    """Whether a call is to a tool; a stream may have repeated the name in each of its chunks."""
    plain = clean_name(name)
    times = len(plain) // len(wanted) if wanted else 0
    return plain == wanted or (times > 1 and plain == wanted * times)


def call_from(record: Any) -> Call | None:
    """A call from a JSON record of any of the usual shapes; None where it has not the shape of one."""
    if not isinstance(record, dict):
        return None
    if isinstance(inner := record.get("function"), dict):
        return call_from(inner)
    name = next((record[key] for key in _NAMES if isinstance(record.get(key), str)), None)
    given = [key for key in _ARGS if key in record]
    if name is None or len(given) > 1:
        return None
    return call_of(name, record[given[0]] if given else None, str(record.get("id") or ""))


def is_plain_call(record: Any) -> bool:
    """Whether a record that stands in a text without any mark is a call: a name and arguments, and nothing else."""
    if not isinstance(record, dict):
        return False
    if record.get("type") == "function" and isinstance(record.get("function"), dict):
        return is_plain_call(record["function"])
    named = [key for key in _NAMES if isinstance(record.get(key), str)]
    given = [key for key in _ARGS if key in record]
    return len(named) == len(given) == 1 and set(record) <= {*named, *given, "id", "type"}
