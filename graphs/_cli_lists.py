"""The commands that list what there is: patterns, tools, doctor."""

from typing import Annotated

import typer

from graphs._cli_options import BaseUrl, Documents, Model, More, Root

ToolName = Annotated[
    str | None, typer.Argument(metavar="[TOOL]", help="One of them, with its arguments.", show_default=False)
]
ToolsAsJson = Annotated[bool, typer.Option("--json", help="With the schemas of arguments and results, as JSON.")]


def add_to(app: typer.Typer) -> None:
    """Takes the commands into the application."""
    app.command()(patterns)
    app.command(short_help="Lists the built-in tools, or shows one.")(tools)
    app.command()(doctor)


def patterns() -> None:
    """Lists the planning patterns."""
    from graphs import _listing

    _listing.show_patterns()


def tools(name: ToolName = None, as_json: ToolsAsJson = False) -> None:
    """Lists the built-in tools; of one also what it takes and gives."""
    from graphs import _tool_list

    _tool_list.show_tools(name, as_json)


def doctor(
    model: Model = None, base_url: BaseUrl = None, root: Root = None, documents: Documents = None, more: More = None
) -> int:
    """Looks whether everything that a run needs is there."""
    from graphs import _listing

    given = {"model": model, "base_url": base_url, "root": root, "documents": documents, "more": more or []}
    return _listing.show_doctor(given)
