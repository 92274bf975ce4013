"""Packing files of a folder into a zip or a tar.gz, and telling whether an archive holds them already."""

import hashlib
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from state.errors import ToolFailed, shorten
from tools.folder import Folder, opened, plainly

KINDS = (".zip", ".tar.gz", ".tgz")


def default_name(paths: list[str]) -> str:
    """The archive's name when nobody gave one: report.zip beside report.txt, else archive.zip."""
    if len(paths) != 1 or Path(paths[0]) == Path("."):
        return "archive.zip"
    return str(Path(paths[0]).with_suffix(".zip"))


def members(folder: Folder, paths: list[str], archive: Path) -> dict[str, Path]:
    """Name in the archive -> real file, for files and whole folders; the archive itself is left out."""
    found: dict[str, Path] = {}
    for path in paths:
        real = folder.place(path)
        files = _below(folder, real) if real.is_dir() else [folder.file(path)]
        found |= {folder.name(file): file for file in files if file != archive}
    if not found:
        raise ToolFailed(f"{shorten(paths)} holds no file to compress", "invalid_arguments")
    return found


def pack(found: dict[str, Path], file: BinaryIO, name: str) -> None:
    """Writes an archive of the kind that its name says."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, real in found.items():
                _add_to_zip(archive, member, real)
    else:
        with tarfile.open(fileobj=file, mode="w:gz") as packed:
            for member, real in found.items():
                _add_to_tar(packed, member, real)


def holds(archive: Path, found: dict[str, Path]) -> bool:
    """Whether an archive holds exactly these files with their present content."""
    try:
        return dict(_packed(archive)) == {name: _fingerprint_of(real) for name, real in found.items()}
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, ToolFailed):
        return False


def _below(folder: Folder, top: Path) -> Iterator[Path]:
    for path in folder.walk(top, hidden=True):
        if folder.closed and path.is_relative_to(folder.closed):
            continue
        if path.is_symlink() and not folder.regular(path):
            raise ToolFailed(
                f"{folder.name(path)!r} is a link to a folder, out of the root or to nothing; compress what is meant",
                "policy",
            )
        yield folder.file(folder.name(path))


def _add_to_zip(archive: zipfile.ZipFile, member: str, real: Path) -> None:
    info = zipfile.ZipInfo.from_file(real, member, strict_timestamps=False)
    info.compress_type = zipfile.ZIP_DEFLATED
    with plainly(member), opened(real) as source, archive.open(info, "w") as target:
        shutil.copyfileobj(source, target)


def _add_to_tar(archive: tarfile.TarFile, member: str, real: Path) -> None:
    with plainly(member), opened(real) as source:
        info = archive.gettarinfo(arcname=member, fileobj=source)
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        archive.addfile(info, source)


def _packed(archive: Path) -> Iterator[tuple[str, str]]:
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                with zipped.open(name) as file:
                    yield name, _fingerprint(file)
    else:
        with tarfile.open(archive, "r:gz") as tarred:
            for info in tarred:
                if content := tarred.extractfile(info):
                    yield info.name, _fingerprint(content)


def _fingerprint_of(real: Path) -> str:
    with opened(real) as file:
        return _fingerprint(file)


def _fingerprint(file: IO[bytes]) -> str:
    seen = hashlib.sha256()
    while part := file.read(1 << 20):
        seen.update(part)
    return seen.hexdigest()
