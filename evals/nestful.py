"""NESTFUL (Basu et al. 2024, arXiv:2409.03797): nested calls over declared APIs; `$var1.field$` is part of a result.

The tools are stubs made from the published specifications. What those say of arguments can be taken at its word
(`strict`), or left unchecked, for gold plans that are sound but for an argument. The gold outputs are worked out here
from the row itself. `nestful_defects` names the gold plans that contradict their specification.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evals.stubs import made_up, stub
from evals.tasks import Expected, Made, Task, data_folder, read_json, same_outputs
from nodes.notations import labels
from state.plan import StepDraft
from state.references import as_text, each_text
from tools.tool import Schema, Tool, ToolEnv

Row = dict[str, Any]
FILES = {"executable": "executable", "glaive": "non-executable-glaive", "sgd": "non-executable-sgd"}
RESULT = "var_result"
"""The last call of every row collects what the answer is made of."""
_ARGUMENTS = ("query_parameters", "path_parameters", "parameters", "arguments")
_OPTIONS = ("allowed_values", "possible_values", "enum")
_TYPES = {
    "string": "string", "enum": "string", "file": "string", "date (yyyy-mm-dd)": "string", "number": "number",
    "float": "number", "integer": "integer", "boolean": "boolean", "array": "array", "object": "object",
}  # fmt: skip
_REFERENCE = re.compile(r"\$(var\d+)([^$]*)\$")
_RANGE = re.compile(r"(\d+)-(\d+)")


def tasks(folder: str | Path | None = None, *, strict: bool = True) -> Iterator[Task]:
    """Every row of the first version, defective ones too."""
    place = data_folder(folder) / "nestful"
    for short, name in FILES.items():
        specs = {spec["name"]: spec for spec in read_json(place / f"{name}-spec.json")}
        tools = (*(_tool(spec, strict) for spec in specs.values()), COLLECT)
        for number, row in enumerate(read_json(place / f"{name}-data.json")):
            gold = tuple(_gold(row))
            yield Task(
                f"nestful-{short}-{number}", row["input"], tools, gold, partial(_expected, row, specs), same_outputs
            )


def _gold(row: Row) -> Iterator[StepDraft]:
    for call in row["output"]:
        name = call.get("label", RESULT)
        yield StepDraft(id=name, tool=_name(call["name"]), args=labels(call["arguments"]))


def _name(name: str) -> str:
    """A name that a tool may have: some APIs are called `Family.Call`."""
    return re.sub(r"[^\w-]", "_", name)


def _tool(spec: Row, strict: bool) -> Tool:
    fields = {name: one for key in _ARGUMENTS for name, one in (spec.get(key) or {}).items()}
    return stub(_name(spec["name"]), spec["description"], _arguments(fields, strict), _outputs(spec))


def _arguments(fields: Mapping[str, Row], strict: bool) -> Schema:
    if not strict:
        return {"type": "object", "properties": {name: {} for name in fields}}
    needed = [name for name, one in fields.items() if one.get("required") is True]
    parts = {name: _schema(one, closed=False) for name, one in fields.items()}
    return {"type": "object", "properties": parts, "required": needed, "additionalProperties": False}


def _outputs(spec: Row) -> Schema:
    return _schema({"type": "object", "properties": spec["output_parameters"]}, closed=True)


def _schema(declared: Row | str, *, closed: bool) -> Schema:
    """A JSON Schema for one declared value; `closed`: an object has the named fields and no others."""
    if isinstance(declared, str):
        declared = {"type": declared}
    schema: Schema = {"description": declared["description"]} if "description" in declared else {}
    if kind := declared.get("type"):
        schema["type"] = _TYPES[kind.lower()]
    if fields := declared.get("properties"):
        schema["properties"] = {name: _schema(one, closed=closed) for name, one in fields.items()}
        schema |= {"additionalProperties": False} if closed else {}
    if items := declared.get("items"):
        schema["items"] = _schema(items, closed=closed)
    return schema | _limits(next((declared[key] for key in _OPTIONS if declared.get(key)), None))


def _limits(options: Any) -> Schema:
    if isinstance(options, list):
        return {"enum": options}
    if isinstance(options, str) and (found := _RANGE.fullmatch(options)):
        return {"minimum": int(found[1]), "maximum": int(found[2])}
    return {}


async def _collect(args: dict[str, Any], around: ToolEnv) -> dict[str, Any]:
    return args


COLLECT = Tool(RESULT, "Collects what the answer is made of, under names of your choice.", {"type": "object"}, _collect)


def _expected(row: Row, specs: Mapping[str, Row]) -> Expected:
    """What a sound row gives, call by call; raises `LookupError` for one that refers to nothing."""
    values: dict[str, Any] = {}
    calls: Expected = {}
    for call in row["output"]:
        label, name = call.get("label", RESULT), call["name"]
        args = each_text(call["arguments"], partial(_put, values))
        values[label] = args if name == RESULT else made_up(_name(name), args, _outputs(specs[name]))
        calls[label] = Made(values[label], args)
    return calls


def _put(values: Mapping[str, Any], text: str) -> Any:
    if whole := _REFERENCE.fullmatch(text):
        return _walk(values[whole[1]], whole[2])
    return _REFERENCE.sub(lambda found: as_text(_walk(values[found[1]], found[2])), text)


def _walk(value: Any, path: str) -> Any:
    for key in path.replace("[", ".").replace("]", "").split(".")[1:]:
        if isinstance(value, list) and not key.isdigit():
            raise LookupError(f"{key!r} of a list")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
