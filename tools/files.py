"""Files inside the root folder: list, read, count words, write, copy, compress.

Leaves out: deleting and moving; what a plan writes a person can still undo.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools import archives
from tools.folder import Folder, opened, plainly, replacing
from tools.globs import matcher
from tools.settings import ToolSettings
from tools.text import words
from tools.tool import Tool, read, write

_MAX_NAMES = 10_000


class Written(TypedDict):
    """A file that was written."""

    path: str
    bytes: int


class Packed(TypedDict):
    """An archive that was written; `files` is how many it holds."""

    path: str
    bytes: int
    files: int


def tools(settings: ToolSettings) -> list[Tool]:
    """The file tools, inside the settings' root and outside the home folder."""
    folder = Folder(settings.root, settings.home)
    files, path = Files(folder), folder.refusing("path")
    both, packed = folder.refusing("source", "target"), folder.refusing("paths", "archive")
    made = [
        read(files.list_files, refuse=folder.refusing("folder")),
        read(files.read_file, untrusted=True, refuse=path),
        read(files.count_words, refuse=path),
        write(files.write_file, lookup=_look_up(files.written_already), refuse=path),
        write(files.copy_file, lookup=_look_up(files.copied_already), timeout=120.0, refuse=both),
        write(files.compress, lookup=_look_up(files.packed_already), timeout=120.0, refuse=packed),
    ]
    return [replace(tool, one_service=False) for tool in made]


class Files:
    """The tools' functions; each docstring is what a model reads."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def list_files(self, pattern: str = "*", folder: str = ".") -> list[str]:
        """Lists the files in a folder whose names match, such as *.txt; **/*.txt looks in all its subfolders too."""
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ToolFailed(f"pattern {shorten(pattern)!r} leads out of the folder; give one such as *.txt", "policy")
        top, matches = self._folder.folder(folder), matcher(pattern)
        hidden = any(part.startswith(".") for part in pattern.split("/"))
        depth = None if "**" in pattern else pattern.count("/")
        found: list[str] = []
        for path in self._folder.walk(top, hidden, depth):
            if matches(path.relative_to(top).as_posix()) and self._folder.regular(path):
                found.append(self._folder.name(path))
            if len(found) > _MAX_NAMES:
                raise ToolFailed(f"more than {_MAX_NAMES} files match {shorten(pattern)!r}; narrow it", "permanent")
        return found

    def read_file(self, path: str) -> str:
        """Gives the text of a UTF-8 file."""
        data = self._folder.read(path)
        if b"\0" in data:
            raise ToolFailed(f"{shorten(path)!r} is no text, it has NUL bytes", "permanent")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            where = f"byte {data[error.start]:#04x} at {error.start}"
            raise ToolFailed(f"{shorten(path)!r} is no UTF-8 text ({where}); convert it first", "permanent") from error

    def count_words(self, path: str) -> int:
        """Counts the words of a text file; every Chinese character counts as one."""
        return words(self.read_file(path))

    def write_file(self, path: str, text: str) -> Written:
        """Writes a UTF-8 text file, with its folders; a file of that name is replaced."""
        real, data = self._folder.target(path), _encoded(path, text)
        with replacing(real) as file:
            file.write(data)
        return {"path": self._folder.name(real), "bytes": len(data)}

    def copy_file(self, source: str, target: str) -> Written:
        """Copies a file to another name, or into a folder if the target ends with / or is a folder."""
        origin, real = self._copy_paths(source, target)
        if origin == real:
            raise ToolFailed(f"{shorten(source)!r} and {shorten(target)!r} are the same file", "invalid_arguments")
        with plainly(source), opened(origin) as original, replacing(real) as file:
            shutil.copyfileobj(original, file)
        return self._written(real)

    def compress(self, paths: list[str] | str, archive: str | None = None) -> Packed:
        """Packs files and folders into an archive; its name says which kind: .zip (also the default) or .tar.gz."""
        real, found = self._pack_paths(paths, archive)
        with replacing(real) as file:
            archives.pack(found, file, real.name)
        return {**self._written(real), "files": len(found)}

    def written_already(self, path: str, text: str) -> Written | None:
        """What write_file did, if its text is there."""
        real, data = self._folder.target(path), _encoded(path, text)
        return self._written(real) if real.is_file() and real.read_bytes() == data else None

    def copied_already(self, source: str, target: str) -> Written | None:
        """What copy_file did, if the same content is there."""
        origin, real = self._copy_paths(source, target)
        same = real.is_file() and real.stat().st_size == origin.stat().st_size and _same(origin, real)
        return self._written(real) if same else None

    def packed_already(self, paths: list[str] | str, archive: str | None = None) -> Packed | None:
        """What compress did, if the archive holds the same files."""
        real, found = self._pack_paths(paths, archive)
        return {**self._written(real), "files": len(found)} if archives.holds(real, found) else None

    def _copy_paths(self, source: str, target: str) -> tuple[Path, Path]:
        origin = self._folder.file(source)
        if target.endswith("/") or self._folder.place(target).is_dir():
            target = f"{target.rstrip('/') or '/'}/{Path(source).name}"
        return origin, self._folder.target(target)

    def _pack_paths(self, paths: list[str] | str, archive: str | None) -> tuple[Path, dict[str, Path]]:
        given = [paths] if isinstance(paths, str) else paths
        name = archive or archives.default_name(given)
        if not name.endswith(archives.KINDS):
            raise ToolFailed(f"archive {shorten(name)!r} should end with .zip or .tar.gz", "invalid_arguments")
        real = self._folder.target(name)
        return real, archives.members(self._folder, given, real)

    def _written(self, real: Path) -> Written:
        return {"path": self._folder.name(real), "bytes": real.stat().st_size}


def _encoded(path: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailed(
            f"the text for {shorten(path)!r} has half a character at {error.start}", "invalid_arguments"
        ) from error


def _same(one: Path, other: Path) -> bool:
    with opened(one) as left, opened(other) as right:
        while part := left.read(1 << 20):
            if part != right.read(1 << 20):
                return False
        return not right.read(1)


def _look_up(function: Callable[..., Any]) -> Callable[[dict[str, Any], str], Awaitable[Any]]:
    """A look-up by content: without any trace, or when the paths are no longer right, nothing happened."""

    async def look(args: dict[str, Any], key: str) -> Any:
        try:
            return await asyncio.to_thread(function, **args)
        except (ToolFailed, OSError):
            return None

    return look
