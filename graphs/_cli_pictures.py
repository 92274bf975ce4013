"""The commands that draw: draw, diff, report."""

from typing import Annotated, Literal

import typer

from graphs._cli_options import AsJson, Debug, KeptRun, More

Format = Literal["mermaid", "dot", "svg", "png", "text"]
Version = Annotated[int | None, typer.Argument(help="A version of the plan.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Takes the commands into the application."""
    app.command(short_help="Draws a pattern, or the plan of a run.")(draw)
    app.command(short_help="Shows how the versions of a plan differ.")(diff)
    app.command(short_help="Writes a kept run as one HTML page.")(report)


def draw(
    shown: Annotated[str, typer.Argument(metavar="PATTERN|RUN", help="Name of a pattern, or of a kept run.")],
    format: Annotated[
        Format | None, typer.Option("--format", help="Else by the ending of FILE, else mermaid (time line: text).")
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Where to, replaced if it is there; else standard output.")
    ] = None,
    plan: Annotated[int | None, typer.Option("--plan", metavar="N", help="Only this version of the plan.")] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="When each step ran: text, svg or png.")] = False,
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Draws a pattern, or the plan of a kept run as it ran, or its time line."""
    from graphs import _pictures

    _pictures.show_drawing(shown, format, out, plan, timeline, more or [])


def diff(
    thread: KeptRun, a: Version = None, b: Version = None, as_json: AsJson = False, more: More = None,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Shows two versions of a plan side by side, with the value of each; without A and B each beside the next."""
    from graphs import _pictures

    _pictures.show_difference(thread, a, b, as_json, more or [])


def report(
    thread: KeptRun,
    out: Annotated[str, typer.Option("-o", metavar="FILE", help="Where to; replaced if it is there.")] = "report.html",
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Writes a kept run as one HTML page that needs nothing else: plan, versions, time line, steps, cost, events."""
    from graphs import _pictures

    _pictures.write_page(thread, out, more or [])
