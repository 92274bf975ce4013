"""The command that serves: ui."""

from typing import Annotated

import typer

from graphs._cli_options import Debug

Port = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=1, max=65535, help="Where to listen.", show_default="2024, or a free one"),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only say the address.")]


def ui(port: Port = None, no_browser: NoBrowser = False, debug: Debug = False) -> int:
    """Starts a LangGraph server and opens its plan page: start, watch and answer runs. Ctrl-C stops it."""
    from graphs import _serving

    return _serving.serve(port, browser=not no_browser, log_here=debug)
