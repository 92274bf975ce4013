"""Paths that a user gives, seen from the working folder."""

import os

from state.errors import SetupError


def absolute(path: str) -> str:
    """The path from the top on, links not followed; a `SetupError` if it begins in a working folder that is gone."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        raise SetupError("the folder that this works in is not there any more; go to another one (cd)") from error
