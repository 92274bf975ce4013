"""The command `forethought eval`: patterns and plain ways compared on the same tasks."""

from typing import Annotated

import typer

from graphs._cli_options import AsJson, BaseUrl, Debug, Limit, More


def compare(
    sets: Annotated[
        list[str] | None, typer.Argument(metavar="SET...", help="Public sets, NAME or NAME:N, and files of own tasks.")
    ] = None,
    patterns: Annotated[
        str | None, typer.Option("--patterns", metavar="NAME,...", help="Which; all of them, with the plain ways.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="A model; or oracle, noisy, recorded.", show_default=False),
    ] = None,
    base_url: BaseUrl = None,
    number: Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="How many tasks of each set.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Which tasks these are.")] = 0,
    noise: Annotated[
        float, typer.Option("--noise", metavar="P", min=0, max=1, help="How often `noisy` makes a fault in a call.")
    ] = 0.09,
    noise_seed: Annotated[int, typer.Option("--noise-seed", help="Which faults these are.")] = 0,
    at_once: Annotated[int, typer.Option("--at-once", metavar="N", min=1, help="How many runs at the same time.")] = 8,
    limit: Limit = None,
    out: Annotated[
        str | None, typer.Option("-o", metavar="DIR", help="Where runs, rows and report go; the same goes on there.")
    ] = None,
    only_report: Annotated[
        bool, typer.Option("--only-report", help="Runs nothing; tells what has come of it so far.")
    ] = False,
    as_json: AsJson = False, more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Compares patterns and plain ways on the same tasks: success with its interval, calls, tokens, time, cost.

    Each run is kept as it ends; the same command after a kill goes on.
    """
    from evals import command

    options = {"model": model, "base_url": base_url, "limits": limit or [], "more": more or []}
    names = [name.strip() for name in (patterns or "").split(",") if name.strip()]
    asked = command.Asked(sets or [], names, number, seed, noise, noise_seed, at_once, out, as_json, only_report)
    return command.compare(asked, options)
