"""The command `forethought lessons`: what earlier runs learned, looked at and decided on by a person."""

from typing import Annotated

import typer

from graphs._cli_options import AsJson, BaseUrl, Debug, Model, More, NoInput

app = typer.Typer(help="What earlier runs learned: list, show, draft, approve, off, on, forget.")
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Lessons, as `lessons list` prints them.")]


@app.command("list")
def list_lessons(
    tenant: Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="Only those of this tenant.")] = None,
    as_json: AsJson = False, more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Lists the lessons with where they helped."""
    from graphs import _lessons

    _lessons.show_all(tenant, as_json, more or [])


@app.command()
def show(
    lesson: Annotated[str, typer.Argument(metavar="ID")], as_json: AsJson = False, more: More = None,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Shows a lesson: problem, cause, strategy, when it is used, for whom, where it came from, where it helped."""
    from graphs import _lessons

    _lessons.show_one(lesson, as_json, more or [])


@app.command()
def approve(
    lessons: Ids,
    strategy: Annotated[str, typer.Option("--strategy", metavar="TEXT", help="Other words, also for one in use.")] = "",
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Lets runs use drafts from now on."""
    from graphs import _lessons

    _lessons.turn(lessons, "approve", more or [], strategy)


@app.command()
def off(lessons: Ids, more: More = None, debug: Debug = False) -> None:
    """Lets no run use lessons any more; they are not learned again."""
    from graphs import _lessons

    _lessons.turn(lessons, "off", more or [])


@app.command()
def on(lessons: Ids, more: More = None, debug: Debug = False) -> None:
    """Lets runs use lessons again that were off or whose time was over; one never approved is a draft again."""
    from graphs import _lessons

    _lessons.turn(lessons, "on", more or [])


@app.command()
def forget(lessons: Ids, more: More = None, debug: Debug = False) -> None:
    """Takes lessons out of the store for good; a run may learn them again."""
    from graphs import _lessons

    _lessons.forget(lessons, more or [])


@app.command()
def draft(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many kept runs, newest first.")] = 200,
    model: Model = None, base_url: BaseUrl = None, no_input: NoInput = False, as_json: AsJson = False,
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Reads failed runs and drafts lessons; at a terminal you are asked about each, none is used before you approve."""
    from graphs import _lesson_drafts

    settings = {"model": model, "base_url": base_url, "more": more or []}
    _lesson_drafts.draft(limit, settings, as_lines_of_json=as_json, prompts=not no_input)
