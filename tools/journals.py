"""Which journal a run has: a table in the database that is set, else a file in the home folder."""

import os

from state.context import Context
from state.errors import SetupError
from tools.journal import Journal
from tools.journal_file import FileStorage
from tools.journal_postgres import PostgresStorage, place_of


def journal_of(context: Context) -> Journal:
    """The journal; nothing is opened yet."""
    url = context.database_url()
    return Journal(PostgresStorage(url) if url else FileStorage(f"{context.home_folder()}/journal.db"))


def database_of(context: Context) -> str | None:
    """The database of a run as it may be kept and shown, without user and password; None for a file."""
    url = context.database_url()
    return place_of(url) if url else None


def check_home(context: Context, began: str) -> None:
    """A folder that was moved takes its journal along; a `SetupError` where it is left behind in another one."""
    here = context.home_folder()
    if context.database_url() or not os.path.exists(f"{began}/journal.db"):
        return
    if not os.path.isdir(here) or not os.path.samefile(began, here):
        raise SetupError(f"this request keeps its journal of writes in {began}, and this call has the home {here}")
