"""A file that a user names, read as text: every error names it, says what is wrong, and what would be right.

Leaves out: files that a plan reads (`tools/folder.py`), which stay in the root folder and fail as a tool does.
"""

from pathlib import Path

from state.errors import InputError


def text_of(path: str | Path, named: str, most: int) -> str:
    """The text of a file of at most so many bytes; `named` is how errors call it. Blocking."""
    try:
        with Path(path).expanduser().open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError, RuntimeError) as error:  # the last: ~ of nobody
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{named} can't be read: {why}; right would be the path of a file with text") from error
    return as_text(data, named, most)


def as_text(data: bytes, named: str, most: int) -> str:
    """The bytes as text, without a byte order mark."""
    if len(data) > most:
        raise InputError(f"{named} has more than {most:,} bytes, which is the most")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{named} is no UTF-8 text, at byte {error.start}; right would be a file of UTF-8") from error
