"""Kinds of values that settings take, each checked as it is handed in, and where Studio shows a setting."""

import os
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainSerializer, WithJsonSchema

from state.conditions import unparsable
from state.errors import shorten
from state.plain import storable
from state.stop_when import checked, kept


def _name_or_model(value: Any) -> Any:
    several = value if isinstance(value, list | tuple) and value else [value]
    if value is None or all(isinstance(one, str) or hasattr(one, "ainvoke") for one in several):
        return value
    raise ValueError(f"{shorten(value)} is no model: give a name or a LangChain chat model, or a list of them")


def _path_or_plan(value: Any) -> Any:
    if value is None or isinstance(value, str | os.PathLike | dict):
        return value
    raise ValueError(f"{shorten(value)} is no saved plan: give the path of a file, or a mapping with goal and steps")


def _recorded(value: Any) -> Any:
    if value is None or hasattr(value, "request"):
        return value
    raise ValueError(f"{shorten(value)} is no recorded run; leave it out, graphs.replay(file) sets it")


def _readable(value: list[str]) -> list[str]:
    if wrong := [why.replace("output", "answer") for text in value if (why := unparsable(text))]:
        raise ValueError(wrong[0])
    return value


_ONE_OR_MORE = {"type": ["string", "array", "null"], "items": {"type": "string"}}
Model = Annotated[Any, AfterValidator(_name_or_model), WithJsonSchema(_ONE_OR_MORE)]
"""A model's name, a LangChain chat model, a list of them of which the first that answers is taken, or None."""
Conditions = Annotated[
    Any, AfterValidator(checked), PlainSerializer(kept, when_used="json"),
    WithJsonSchema({**_ONE_OR_MORE, "default": None}),
]  # fmt: skip
"""A text, a plain function of the look, a list of them of which the first that holds ends the run, or None."""
SavedPlan = Annotated[
    Any, AfterValidator(_path_or_plan), WithJsonSchema({"type": ["string", "object", "null"], "default": None})
]
"""The path of a saved plan, its content as a mapping, or None."""
Tools = Annotated[list[Any] | None, WithJsonSchema({"type": ["array", "null"], "items": {"type": "string"}})]
Acceptance = Annotated[list[str], AfterValidator(_readable)]
"""Conditions on the answer that code decides."""

Recorded = Annotated[Any, AfterValidator(_recorded), WithJsonSchema({"type": "null"})]
"""A recorded run that is served, or None."""
Schema = Annotated[dict[str, Any] | None, AfterValidator(storable)]
"""A JSON Schema that can be kept with a thread, or None."""

PLANNING = ("choose", "plan", "replan", "think")
CHECKING = ("check", "grade", "critique")
REFLECTING = ("reflect", "reflect_midway")
ANSWERING = ("answer", "solve", "wrap_up", "draft", "refine")
EXECUTING = ("execute",)
"""Names of the nodes in which a role's model is asked."""


def at(nodes: tuple[str, ...], default: Any = None, **more: Any) -> Any:
    """A setting that Studio shows at these nodes, of those that a graph has."""
    return Field(default=default, json_schema_extra={"langgraph_nodes": [*nodes], **more})


def prompt_at(nodes: tuple[str, ...]) -> Any:
    """A text that Studio shows in its editor for prompts."""
    return at(nodes, "", langgraph_type="prompt")
