"""Saved plans: read from YAML, JSON or a mapping, filled from inputs, written again.

Every error names the file, the line where it is known, the value, and what would be right. Leaves out: the check
against real tools (`nodes/fixed_plan.py`).
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nodes.inputs import content
from nodes.reading.values import sound
from nodes.strict_files import at_line, file_text, first_fault, read_json
from nodes.strict_yaml import Lines, Place, YamlFault, read_yaml, write_yaml
from nodes.typed_args import misfit
from state.errors import InputError, offer, shorten
from state.plain import plain
from state.schemas import schema_fault
from state.workflow import PlanFile, Workflow
from tools.folder import real_path

SETTING = "setting plan"
"""What a plan is called that came as a mapping."""
_LONGEST, _MOST = 300, 30
"""Characters of a goal or parameter, and parameters, that a prompt holds of a saved plan."""
ENDINGS = (".yaml", ".yml", ".json")


def read_plan(given: Any) -> Workflow:
    """The saved plan that a path names or a mapping is. Blocking."""
    if isinstance(given, Mapping):
        return _workflow(plain(_sound(dict(given), SETTING)), SETTING, {})
    return read_text(file_text(str(given), ENDINGS, "plan"), str(given))


def read_text(text: str, source: str) -> Workflow:
    """The saved plan in a text; `source` says whether it is JSON, and stands in every error."""
    try:
        value, lines = read_json(text) if source.endswith(".json") else read_yaml(text)
    except YamlFault as error:
        raise InputError(f"{at_line(source, error.line)}: {error}") from error
    return _workflow(_sound(value, source), source, lines)


def _sound(value: Any, source: str) -> Any:
    """The value; a text that could only be kept as another would name another file."""
    try:
        return sound(value)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from error


def plan_text(plan: Mapping[str, Any], source: str) -> str:
    """A saved plan as a text, JSON or YAML by the name of its file."""
    value = {name: plan[name] for name in ("goal", "parameters", "steps") if plan.get(name)}
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n" if source.endswith(".json") else write_yaml(value)


def known_plans(folder: str) -> tuple[dict[str, Workflow], list[str]]:
    """Every saved plan of a folder by the name of its file without ending, and why others can't be used. Blocking."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise InputError(f"setting workflows: there is no folder {shorten(folder)!r}")
    found: dict[str, Workflow] = {}
    wrong: list[str] = []
    for path in sorted(path for path in root.iterdir() if path.suffix in ENDINGS and os.path.isfile(path)):
        try:
            if not real_path(path).is_relative_to(real_path(root)):
                raise InputError(f"{path}: it leads out of the folder {shorten(folder)!r}; copy the plan into it")
            found[path.stem] = read_plan(path)
        except InputError as error:
            wrong.append(str(error))
    return found, wrong


def filled(workflow: Workflow, inputs: Any) -> Any:
    """The inputs as a caller gave them, over the defaults of the parameters."""
    if inputs is not None and not isinstance(inputs, Mapping):
        return inputs  # what is wrong with it is said where inputs are read
    parts = _properties(workflow)
    return {name: part["default"] for name, part in parts.items() if "default" in part} | dict(inputs or {})


def lacking(workflow: Workflow, inputs: Mapping[str, Any]) -> str:
    """Parameters without a default that no input is there for, each with what it takes; an empty text for none."""
    parts, given = _properties(workflow), filled(workflow, inputs)
    names = [name for name in workflow["parameters"].get("required", []) if name not in given]
    return ", ".join(f"{name} ({_told(parts.get(name, {}))})" for name in names)


def in_short(workflow: Workflow, name: str) -> dict[str, Any]:
    """What a prompt says of a saved plan that may be chosen."""
    told = {one: _told(part)[:_LONGEST] for one, part in list(_properties(workflow).items())[:_MOST]}
    return {"name": name, "goal": shorten(workflow["goal"], _LONGEST), "parameters": told}


def check_inputs(workflow: Workflow, inputs: Mapping[str, Any], home: str) -> None:
    """Raises `InputError` where inputs, already filled, do not fit the parameters. Blocking."""
    parts, source = _properties(workflow), workflow["source"]
    for name in inputs:
        if parts and name not in parts and "additionalProperties" not in workflow["parameters"]:
            raise InputError(f"{source}: there is no parameter {name!r}; {offer(name, parts)}")
    if missing := lacking(workflow, inputs):
        raise InputError(f"{source}: give the inputs that have no default: {missing}")
    values = {name: content(value, home) for name, value in inputs.items()}
    if why := misfit(values, workflow["parameters"]):
        raise InputError(f"{source}: the inputs do not fit its parameters: {why}")


def place_of(workflow: Workflow, step: str) -> str:
    """Where a step stands, as an error names it."""
    return at_line(workflow["source"], workflow["lines"].get(step, 0))


def _told(part: Mapping[str, Any]) -> str:
    kind = part.get("type", "any value")
    return f"{kind}: {shorten(part['description'])}" if part.get("description") else str(kind)


def _properties(workflow: Workflow) -> dict[str, Any]:
    return {
        n: part if isinstance(part, dict) else {} for n, part in workflow["parameters"].get("properties", {}).items()
    }


def _workflow(value: Any, source: str, lines: Lines) -> Workflow:
    if value is None:
        raise InputError(f"{source}: it is empty; right would be a mapping with goal and steps")
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "one value"
        raise InputError(f"{source}: it holds {kind} and no plan; right would be a mapping with goal and steps")
    try:
        plan = PlanFile.model_validate(value)
    except ValidationError as error:
        raise InputError(first_fault(error, source, lines, _beside)) from error
    if why := _unfit(plan.parameters):
        raise InputError(f"{at_line(source, lines.get(('parameters',), 0))}: parameters: {why}")
    return {
        "source": source,
        "goal": plan.goal,
        "parameters": plan.parameters,
        "steps": [step.model_dump(exclude_defaults=True) for step in plan.steps],
        "lines": {step.id: line for n, step in enumerate(plan.steps) if (line := lines.get(("steps", n)))},
    }


def _unfit(parameters: dict[str, Any]) -> str:
    if not parameters:
        return ""
    if parameters.get("type", "object") != "object" or "properties" not in parameters:
        return 'right would be {"type": "object", "properties": {"NAME": {"type": "string"}}}'
    return schema_fault(parameters)


def _beside(place: Place) -> Iterable[str]:
    """The keys of a plan, or of a step."""
    return {1: PlanFile.model_fields, 3: _FIELDS}.get(len(place), ())


_FIELDS: Mapping[str, Any] = PlanFile.model_fields["steps"].annotation.__args__[0].model_fields  # type: ignore[union-attr]
