"""The plans in the prompts of ReWOO (2305.18323) and LLMCompiler (2312.04511), each in the notation of its authors.

Our readers make them plans; the gold outputs are worked out here from the printed lines. The tools are stubs.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evals.stubs import made_up, stub
from evals.tasks import Expected, Made, Task, data_folder, read_json, same_outputs
from nodes.reading.llm_compiler import read_llm_compiler
from nodes.reading.rewoo import read_rewoo
from nodes.reading.text_plan import TextPlan, draft_of, step_name
from state.plan import PlanDraft
from state.references import as_text, each_text

SETS: Mapping[str, Callable[[str], TextPlan]] = {"rewoo": read_rewoo, "llmcompiler": read_llm_compiler}
DEFECTIVE: Mapping[str, str] = {
    f"llmcompiler-{row}": "its second line lacks the bracket that closes the call" for row in (0, 5)
}
"""Plans that can't be read."""
_INPUTS = {"search": ("query",), "math": ("problem", "context"), "join": ()}
_TEXT = {"type": "string"}
_CONTEXT = {"type": "array", "items": _TEXT}
_LINES = {
    "rewoo": re.compile(r"^#(E\d+) = (\w+)\[(.*)\] *$", re.MULTILINE),
    "llmcompiler": re.compile(r"^(\d+)\. (\w+)\((.*)\)", re.MULTILINE),
}
_MARKS = {"rewoo": re.compile(r"#(E\d+)"), "llmcompiler": re.compile(r"\$(\d+)")}
_BEGINS = re.compile(r"^(?:Plan:|Thought:|1\. )", re.MULTILINE)


def texts(name: str, folder: str | Path | None = None) -> dict[str, str]:
    """The plans of a set as they are printed."""
    found = read_json(data_folder(folder) / "rewoo_llmcompiler" / f"{name}_fewshot_plans.json")
    return {f"{name}-{row}": one["text"] for row, one in enumerate(found)}


def draft(name: str, text: str) -> PlanDraft:
    """The plan; raises `ValueError` where it can't be read."""
    return draft_of(SETS[name](text), {tool: _inputs(tool) for _, tool, _ in _LINES[name].findall(text)})


def tasks(name: str, folder: str | Path | None = None) -> Iterator[Task]:
    """Every plan that can be read, once: some questions are in the prompts for several models."""
    known: set[str] = set()
    for row, text in texts(name, folder).items():
        question = _BEGINS.split(text, maxsplit=1)[0].strip()
        if row not in DEFECTIVE and question not in known:
            known.add(question)
            yield _task(name, row, question, text)


def _task(name: str, row: str, question: str, text: str) -> Task:
    gold = tuple(draft(name, text).steps)
    tools = tuple(stub(tool, tool, _schema(tool), _TEXT) for tool in dict.fromkeys(step.tool for step in gold))
    return Task(row, question, tools, gold, partial(_expected, name, text), same_outputs)


def _inputs(tool: str) -> tuple[str, ...]:
    return _INPUTS.get(tool, ("input",))


def _schema(tool: str) -> dict[str, Any]:
    parts = {name: _CONTEXT if name == "context" else _TEXT for name in _inputs(tool)}
    return {
        "type": "object", "properties": parts, "required": list(parts)[:1], "additionalProperties": False,
    }  # fmt: skip


def _expected(name: str, text: str) -> Expected:
    """What the printed lines give, one after the other, with each mark replaced by the result that it stands for."""
    values: dict[str, Any] = {}
    calls: Expected = {}
    for label, tool, inside in _LINES[name].findall(text):
        inputs = (inside,) if name == "rewoo" else _literals(inside)
        args = dict(zip(_inputs(tool), each_text(inputs, partial(_put, name, values)), strict=False))
        values[label] = made_up(tool, args, _TEXT)
        calls[step_name(label)] = Made(values[label], args)
    return calls


def _put(name: str, values: Mapping[str, Any], text: str) -> str:
    return _MARKS[name].sub(lambda found: as_text(values[found[1]]), text)


def _literals(inside: str) -> tuple[Any, ...]:
    """Python values, or the whole as one text where it has no quotes."""
    try:
        return tuple(ast.literal_eval(f"({inside},)")) if inside else ()
    except (SyntaxError, ValueError):
        return (inside,)
