"""The standard streams of the command, whatever the caller made of them: closed, read no more, or not UTF-8."""

import os
import sys


def prepare() -> None:
    """Before anything is read or written."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _lead_nowhere(number, name)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 still shows something


def _lead_nowhere(number: int, name: str) -> None:
    """For a stream that the caller had closed; else a file that is opened later would get its number."""
    handle = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, and so that of the stream
    os.set_inheritable(handle, handle == number)
    setattr(sys, name, os.fdopen(handle, "w" if number else "r", encoding="utf-8", closefd=False))


def finish() -> None:
    """Writes out what is left."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on; Python would complain about it at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
