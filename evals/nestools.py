"""NesTools (Han et al. 2024, arXiv:2410.11805): nested calls over declared tools; `API_call_3` is a named output.

The tools are stubs. The gold outputs are worked out here from the row itself, call by call.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.stubs import made_up, stub
from evals.tasks import Expected, Made, Task, data_folder, json_lines, same_outputs
from state.plan import StepDraft
from state.references import each_text
from tools.tool import Schema

Row = dict[str, Any]
_OUTPUT = re.compile(r"API_call_\d+")
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}


def tasks(folder: str | Path | None = None) -> Iterator[Task]:
    """Every row of the test set."""
    for row in json_lines(data_folder(folder) / "nestools" / "test_data.jsonl"):
        yield _task(row)


def _task(row: Row) -> Task:
    apis = {api["api_name"]: api for api in row["api"]}
    tools = tuple(
        stub(name, api["api_description"], _object(api["parameters"], api["required"]), _object(api["responses"]))
        for name, api in apis.items()
    )
    return Task(
        id=f"nestools-{row['test_id']}", text=row["task"], tools=tools, gold=tuple(_gold(row, apis)),
        expected=lambda: _expected(row, apis), check=same_outputs,
    )  # fmt: skip


def _object(fields: Mapping[str, Any], required: list[str] | None = None) -> Schema:
    """The schema of arguments or named outputs; without a word on which are required, all are."""
    parts = {name: {"type": _TYPES[one["type"]], "description": one["description"]} for name, one in fields.items()}
    needed = list(fields) if required is None else required
    return {"type": "object", "properties": parts, "required": needed, "additionalProperties": False}


def _gold(row: Row, apis: Mapping[str, Row]) -> Iterator[StepDraft]:
    """Calls as steps c1, c2 ...; a named output becomes a path into the call that gave it."""
    places: dict[str, str] = {}
    for number, call in enumerate(row["call"], 1):
        args = _put(call["parameters"], places.__getitem__)
        yield StepDraft(id=f"c{number}", tool=call["api_name"], args=args)
        named = zip(call["responses"], apis[call["api_name"]]["responses"], strict=True)
        places |= {name: f'${{steps.c{number}."{field}"}}' for name, field in named}


def _expected(row: Row, apis: Mapping[str, Row]) -> Expected:
    values: dict[str, Any] = {}
    calls: Expected = {}
    for number, call in enumerate(row["call"], 1):
        api = apis[call["api_name"]]
        args = _put(call["parameters"], values.__getitem__)
        output = made_up(call["api_name"], args, _object(api["responses"]))
        calls[f"c{number}"] = Made(output, args)
        values |= {name: output[field] for name, field in zip(call["responses"], api["responses"], strict=True)}
    return calls


def _put(parameters: Any, known: Callable[[str], Any]) -> Any:
    return each_text(parameters, lambda text: known(text) if _OUTPUT.fullmatch(text) else text)
