"""Names of processes in a journal, and what this machine knows of one."""

import os
import socket
import uuid

_HERE = f"{socket.gethostname()}:{uuid.getnode():x}"
_SELF = uuid.uuid4().hex
"""Tells this process from an ended one whose number it has got, as in a container that was started again."""


def this_process() -> str:
    """The name of this process."""
    return f"{_HERE}/{os.getpid()}/{_SELF}"


def runs_here(owner: str) -> bool | None:
    """Whether the process of that name runs on this machine; None where that can not be known from here."""
    host, pid, token = [*owner.split("/"), "", ""][:3]
    if host != _HERE or not pid.isdigit():
        return None
    if int(pid) == os.getpid():
        return token == _SELF
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
