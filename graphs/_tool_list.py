"""The built-in tools as a list, and one of them with what it takes and gives."""

from collections.abc import Iterable, Mapping

from graphs._listing import print_columns
from graphs._words import as_json, one_line, visible
from tools.catalogue import FAMILIES, ON_REQUEST, Catalogue, catalogue, describe
from tools.settings import ToolSettings
from tools.tool import Tool


def show_tools(name: str | None, as_lines_of_json: bool) -> None:
    """Name, effect, first line and needs of each built-in tool, also of those that must be named; or one in full."""
    families = {tool.name: family for family in FAMILIES for tool in catalogue([family], ToolSettings()).values()}
    every = catalogue(list(FAMILIES), ToolSettings())
    shown = every if name is None else Catalogue([every[name]])
    if as_lines_of_json:
        told = [describe(tool) | {"needs": _needs(tool, families)} for tool in shown.values()]
        print(as_json(told if name is None else told[0], indent=2))
    elif name is None:
        print_columns([(tool.name, tool.effect, _about(tool, families)) for tool in every.values()])
    else:
        print("\n".join(_whole(every[name], families)))


def _about(tool: Tool, families: Mapping[str, str]) -> str:
    needs = _needs(tool, families)
    return " ".join(tool.description.split()) + (f" Needs {', '.join(needs)}." if needs else "")


def _needs(tool: Tool, families: Mapping[str, str]) -> list[str]:
    naming = ["naming it in tools"] if families[tool.name] in ON_REQUEST else []
    return [*naming, *(need for need in (tool.needs, tool.key_variable) if need)]


def _whole(tool: Tool, families: Mapping[str, str]) -> Iterable[str]:
    """What one who writes a plan by hand has to know."""
    yield f"{tool.name} ({tool.effect}): {_about(tool, families)}"
    required = tool.args_schema.get("required", [])
    parts = tool.args_schema.get("properties", {})
    yield "takes:" if parts else "takes nothing"
    for name, part in parts.items():
        yield f"  {visible(name)}{'' if name in required else ' (may be left out)'}: {one_line(as_json(part), 500)}"
    gives = tool.output_schema
    yield f"gives: {one_line(as_json(gives), 2000) if gives else 'any value'}"
