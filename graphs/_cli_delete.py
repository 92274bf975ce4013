"""The command `forethought delete`."""

from typing import Annotated

import typer

from graphs._cli_options import Debug, More


def delete(
    threads: Annotated[list[str], typer.Argument(metavar="RUN...", help="Kept runs.")],
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Deletes kept runs with their recordings; the journal still knows what they wrote."""
    from graphs import _delete

    _delete.delete_runs(threads, more or [])
