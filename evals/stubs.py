"""Stub tools: an output of the declared type that follows from the tool's name and the arguments it really got.

So a wrong reference gives other arguments, other outputs, and shows in everything that comes after it.
"""

from typing import Any

from state.plan import canonical, digest
from tools.tool import Schema, Tool, ToolEnv


def stub(name: str, description: str, args_schema: Schema, output_schema: Schema) -> Tool:
    """A tool that only makes its output up."""

    async def run(args: dict[str, Any], around: ToolEnv) -> Any:
        return made_up(name, args, output_schema)

    return Tool(name, description, args_schema, run, output_schema=output_schema)


def made_up(tool: str, args: dict[str, Any], schema: Schema) -> Any:
    """The output of a stub for these arguments."""
    return _value(schema, f"{tool}({canonical(args)})", tool)


def _value(schema: Schema, seed: str, name: str) -> Any:
    number = int(digest(seed), 16)
    if options := schema.get("enum"):
        return options[number % len(options)]
    kind = schema.get("type", "string")
    if kind == "object":
        fields = schema.get("properties") or {"value": {}}
        return {key: _value(part, f"{seed}.{key}", key) for key, part in fields.items()}
    if kind == "array":
        return [_value(schema.get("items") or {}, f"{seed}[{place}]", name) for place in range(2)]
    plain = {"integer": number % 900 + 1, "number": float(number % 900 + 1), "boolean": number % 2 == 1}
    return plain.get(kind, f"{name} {digest(seed)}")
