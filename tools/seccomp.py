"""System calls that code in the sandbox does without: those that hold memory that no limit counts, or make namespaces.

A program for the kernel's filter (seccomp, classic BPF), for the processors that it is written for. Leaves out: a list
of the calls that are allowed, which would break with the next version of Python.
"""

import os
import platform
import struct
from errno import ENOSYS, EPERM

from state.errors import ToolFailed

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_DENIED = {
    "x86_64": {
        "memfd_create": 319, "shmget": 29, "msgget": 68, "semget": 64, "unshare": 272, "setns": 308, "mount": 165,
        "umount2": 166, "pivot_root": 155, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
        "userfaultfd": 323, "bpf": 321, "perf_event_open": 298, "add_key": 248, "request_key": 249, "keyctl": 250,
        "open_by_handle_at": 304,
    },
    "aarch64": {
        "memfd_create": 279, "shmget": 194, "msgget": 186, "semget": 190, "unshare": 97, "setns": 268, "mount": 40,
        "umount2": 39, "pivot_root": 41, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "userfaultfd": 282, "bpf": 280, "perf_event_open": 241, "add_key": 217, "request_key": 218, "keyctl": 219,
        "open_by_handle_at": 265,
    },
}  # fmt: skip
_DENIED_EVERYWHERE = {
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "pidfd_getfd": 438,
    "mount_setattr": 442, "memfd_secret": 447,
}  # fmt: skip
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_NAMESPACES = 0x7E020000
"""Flags of clone that ask for a namespace."""
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


def program() -> bytes:
    """The filter for this machine; raises `ToolFailed` where there is none."""
    machine = platform.machine()
    if machine not in _MACHINES:
        known = " and ".join(_MACHINES)
        raise ToolFailed(f"code is only run in a sandbox, which is there for {known}, not for {machine}", "permanent")
    denied = [*_DENIED[machine].values(), *_DENIED_EVERYWHERE.values()]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _MACHINES[machine]), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER), *_refused(_AT_LEAST, _X32, EPERM), *_refused(_EQUAL, _CLONE3, ENOSYS),
        *(step for number in denied for step in _refused(_EQUAL, number, EPERM)),
        (_EQUAL, 0, 3, _CLONE[machine]), (_LOAD, 0, 0, _FIRST_ARGUMENT), *_refused(_ANY_BIT, _NAMESPACES, EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _refused(test: int, value: int, error: int) -> list[tuple[int, int, int, int]]:
    """Where the test holds, the call fails with this error; else the next step follows."""
    return [(test, 0, 1, value), (_RETURN, 0, 0, _ERROR | error)]


def handed() -> int:
    """A file descriptor from which the program is read; who takes it closes it."""
    out, into = os.pipe()
    try:
        os.write(into, program())
    except BaseException:
        os.close(out)
        raise
    finally:
        os.close(into)
    return out
