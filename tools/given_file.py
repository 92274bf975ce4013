"""A file that a user names, read as text: every error names it, says what is wrong, and what would be right.

Leaves out: files that a plan reads (`tools/folder.py`), which stay in the root folder and fail as a tool does.
"""

import os
import stat
from pathlib import Path

from state.errors import InputError


def text_of(path: str | Path, named: str, most: int) -> str:
    """The text of a file of at most so many bytes; `named` is how errors call it. Blocking."""
    try:
        data = _bytes_of(Path(path).expanduser(), named, most)
    except (OSError, ValueError, RuntimeError) as error:  # the last: ~ of nobody
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{named} can't be read: {why}; right would be the path of a file with text") from error
    return as_text(data, named, most)


def _bytes_of(path: Path, named: str, most: int) -> bytes:
    """At most one byte too many. In /dev stands what the caller's shell opened, as for <(...); only that may wait."""
    may_wait = path.is_relative_to("/dev")

    def at_once(name: str, flags: int) -> int:
        return os.open(name, flags | (0 if may_wait else os.O_NONBLOCK))

    with open(path, "rb", opener=at_once) as file:
        if not may_wait and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise InputError(f"{named} is a named pipe; right would be the path of a file with text")
        return file.read(most + 1)


def as_text(data: bytes, named: str, most: int) -> str:
    """The bytes as text, without a byte order mark."""
    if len(data) > most:
        raise InputError(f"{named} has more than {most:,} bytes, which is the most")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{named} is no UTF-8 text, at byte {error.start}; right would be a file of UTF-8") from error
