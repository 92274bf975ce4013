"""The one folder that file tools may touch: every path is checked here, and every write is whole or not at all.

Holds against mistaken and hostile paths. Leaves out: races with a hostile program that moves links meanwhile.
"""

import difflib
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from state.errors import ToolFailed, shorten

_NOISE = ("node_modules", "__pycache__")
MAX_READ = 10_000_000
"""Bytes that are read into memory at once."""


class Folder:
    """A folder with nothing outside it; `closed` is a part that tools may not touch, such as the journal's."""

    def __init__(self, root: str, closed: str | None = None) -> None:
        self._given, self._closed = root, closed

    @cached_property
    def root(self) -> Path:
        """The real path; looked up on first use, since that blocks."""
        return real_path(self._given)

    @cached_property
    def closed(self) -> Path | None:
        """The real path of the folder that stays untouched, if it lies inside."""
        real = real_path(self._closed) if self._closed else self.root
        return real if real != self.root and real.is_relative_to(self.root) else None

    def name(self, real: Path) -> str:
        """How a path inside is called in results: relative, with `/`."""
        return real.relative_to(self.root).as_posix()

    def holds(self, real: Path) -> bool:
        """Whether a real path lies inside and not in the closed part."""
        return real.is_relative_to(self.root) and not (
            self.closed and _folded(real).is_relative_to(_folded(self.closed))
        )

    def place(self, path: str) -> Path:
        """The real path that a path leads to, existing or not; refused when it lies outside."""
        if not path.strip() or "\0" in path:
            raise ToolFailed(
                f"{path!r} is no path; give one inside the root folder, such as notes/a.txt", "invalid_arguments"
            )
        if ".." in Path(path).parts:
            raise ToolFailed(f"{shorten(path)!r} has '..' in it; give the path from the root folder on", "policy")
        with plainly(path):
            if not self.root.is_dir():
                raise ToolFailed(f"there is no folder {self._given!r} for tools to work in; create it", "not_found")
            try:
                real = (self.root / path).resolve()
            except (RuntimeError, ValueError) as error:
                raise ToolFailed(f"{shorten(path)!r} can't be followed: {error}", "invalid_arguments") from error
            if not self.holds(real):
                raise ToolFailed(f"{shorten(path)!r} leads out of {self._borders(real)}", "policy")
        return real

    def _borders(self, real: Path) -> str:
        inside = real.is_relative_to(self.root)
        more = f" without {self.closed}, which is closed to them" if inside else ""
        return f"what tools may touch, which is the folder {self.root}{more}"

    def refusing(self, *names: str) -> Callable[[Mapping[str, Any]], None]:
        """What refuses arguments of these names, each a path or a list of them, that lead out."""

        def refuse(args: Mapping[str, Any]) -> None:
            for value in (args[name] for name in names if args.get(name)):
                for path in [value] if isinstance(value, str) else value:
                    self.place(path)

        return refuse

    def file(self, path: str) -> Path:
        """The real path of an existing file."""
        real = self.place(path)
        with plainly(path):
            if real.is_dir():
                raise ToolFailed(f"{shorten(path)!r} is a folder, not a file", "invalid_arguments")
            if not real.exists():
                raise ToolFailed(f"there is no file {shorten(path)!r}{self._similar(real)}", "not_found")
            if not real.is_file():
                raise ToolFailed(f"{shorten(path)!r} is a device or a pipe, not a file", "invalid_arguments")
        return real

    def folder(self, path: str) -> Path:
        """The real path of an existing folder."""
        real = self.place(path)
        with plainly(path):
            if not real.exists():
                raise ToolFailed(f"there is no folder {shorten(path)!r}{self._similar(real)}", "not_found")
            if not real.is_dir():
                raise ToolFailed(f"{shorten(path)!r} is a file, not a folder", "invalid_arguments")
        return real

    def target(self, path: str) -> Path:
        """The real path of a file that may be written; its folders need not exist yet."""
        real = self.place(path)
        with plainly(path):
            if path.endswith("/") or real.is_dir():
                raise ToolFailed(f"{shorten(path)!r} is a folder; give the name of a file in it", "invalid_arguments")
            if real.exists() and not real.is_file():
                raise ToolFailed(f"{shorten(path)!r} is a device or a pipe, not a file", "invalid_arguments")
        return real

    def read(self, path: str, limit: int = MAX_READ) -> bytes:
        """The bytes of a file of at most `limit` bytes."""
        real = self.file(path)
        with plainly(path), opened(real) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ToolFailed(f"{shorten(path)!r} has more than {limit / 1e6:g} MB, which is the most", "permanent")
        return data

    def walk(self, top: Path, hidden: bool = False, depth: int | None = None) -> Iterator[Path]:
        """Files and links below a folder, in order; links are not followed, `depth` 0 is the folder itself."""
        for here, folders, files in os.walk(top):
            level = len(Path(here).relative_to(top).parts)
            links = [name for name in folders if os.path.islink(os.path.join(here, name))]
            kept = [name for name in folders if hidden or not (name.startswith(".") or name in _NOISE)]
            folders[:] = sorted(kept) if depth is None or level < depth else []
            for name in sorted(files + links):
                if hidden or not name.startswith("."):
                    yield Path(here, name)

    def regular(self, path: Path) -> os.stat_result | None:
        """About the regular file inside that a path leads to; None if it leads out, in a circle or to anything else."""
        real = real_path(path)
        try:
            found = os.stat(real)
        except OSError:
            return None
        return found if stat.S_ISREG(found.st_mode) and self.holds(real) else None

    def _similar(self, real: Path) -> str:
        """What is there instead, for the message about a missing path."""
        parent = next(folder for folder in real.parents if folder.is_dir())
        missing = real.relative_to(parent).parts[0]
        names = sorted(name for name in os.listdir(parent) if not name.startswith("."))
        close = difflib.get_close_matches(missing, names, n=3) or names[:5]
        where = "the root folder" if parent == self.root else repr(self.name(parent))
        return f"; in {where} there is {', '.join(map(repr, close))}" if close else f"; {where} is empty"


def real_path(path: str | Path) -> Path:
    """Where links lead to; unlike `Path.resolve` without an error for links that lead in a circle."""
    return Path(os.path.realpath(path))


def _folded(path: Path) -> Path:
    """The path as a file system sees it that tells neither case nor ways of writing an accent apart."""
    return Path(unicodedata.normalize("NFC", str(path)).casefold())


@contextmanager
def opened(real: Path) -> Iterator[BinaryIO]:
    """A regular file to read; neither a link put there meanwhile nor a pipe that would block."""
    handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ToolFailed(f"{real.name!r} is a device or a pipe, not a file", "invalid_arguments")
        yield file


@contextmanager
def replacing(real: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `real` at the end, all at once; on an error nothing has changed."""
    with plainly(real.name):
        real.parent.mkdir(parents=True, exist_ok=True)
        temporary = real.parent / f".{secrets.token_hex(8)}.tmp"
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if real.exists():
                shutil.copymode(real, temporary)
            os.replace(temporary, real)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def plainly(path: str) -> Iterator[None]:
    """Turns an error of the operating system into one line about the path; nothing has happened then."""
    try:
        yield
    except UnicodeError as error:
        raise ToolFailed(f"{path!r} has characters that no file name can hold", "invalid_arguments") from error
    except OSError as error:
        raise ToolFailed(f"{shorten(path)!r}: {error.strerror or error}", "permanent") from error
