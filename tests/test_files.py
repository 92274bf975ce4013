import os
import sys
import tarfile
import time
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.errors import ToolFailed
from state.result import FailureClass
from tools.files import tools
from tools.folder import Folder
from tools.globs import matcher
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


class Desk:
    """The tools over a root folder that has a neighbour nobody may touch."""

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "root", folder / "outside"
        self.root.mkdir()
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("secret")
        self.tools: dict[str, Tool] = {
            t.name: t for t in tools(ToolSettings(str(self.root), home=str(self.root / ".ft")))
        }

    async def run(self, name: str, **args: Any) -> Any:
        return await self.tools[name].run(args, ToolEnv())

    async def look_up(self, name: str, **args: Any) -> Any:
        lookup = self.tools[name].lookup
        assert lookup is not None
        return await lookup(args, "key")

    async def refused(self, name: str, failure: FailureClass, **args: Any) -> str:
        with pytest.raises(ToolFailed) as caught:
            await self.run(name, **args)
        assert caught.value.failure == failure
        assert caught.value.nothing_happened
        assert "\n" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_a_written_text_is_read_back(desk: Desk) -> None:
    assert await desk.run("write_file", path="notes/a.txt", text="Grüße\n你好") == {"path": "notes/a.txt", "bytes": 14}
    assert await desk.run("read_file", path="notes/a.txt") == "Grüße\n你好"


async def test_an_absolute_path_inside_the_root_is_taken(desk: Desk) -> None:
    assert (await desk.run("write_file", path=str(desk.root / "a.txt"), text=""))["path"] == "a.txt"


async def test_writing_replaces_the_file_and_leaves_nothing_else(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("old")
    (desk.root / "a.txt").chmod(0o640)
    await desk.run("write_file", path="a.txt", text="new")
    assert (desk.root / "a.txt").read_text() == "new"
    assert (desk.root / "a.txt").stat().st_mode & 0o777 == 0o640
    assert os.listdir(desk.root) == ["a.txt"]


async def test_a_write_that_fails_leaves_the_old_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk.root / "a.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert "No space left" in await desk.refused("write_file", "permanent", path="a.txt", text="new")
    assert (desk.root / "a.txt").read_text() == "old"
    assert os.listdir(desk.root) == ["a.txt"]


@pytest.mark.parametrize(
    "path", ["../outside/secret.txt", "a/../../outside/secret.txt", "a/..", "/etc/passwd", ".ft/x"]
)
async def test_paths_that_lead_out_are_refused(desk: Desk, path: str) -> None:
    await desk.refused("read_file", "policy", path=path)
    await desk.refused("write_file", "policy", path=path, text="x")
    await desk.refused("compress", "policy", paths=path, archive="a.zip")


@pytest.mark.parametrize("path", ["", " ", "a\0b"])
async def test_what_is_no_path_is_refused(desk: Desk, path: str) -> None:
    await desk.refused("read_file", "invalid_arguments", path=path)
    await desk.refused("write_file", "invalid_arguments", path=path, text="x")


@pytest.mark.parametrize("path", ["x" * 300, "\ud800"])
async def test_names_that_no_file_can_have_are_refused(desk: Desk, path: str) -> None:
    for name, args in (("read_file", {}), ("write_file", {"text": "x"})):
        with pytest.raises(ToolFailed):
            await desk.run(name, path=path, **args)


async def test_links_out_of_the_root_are_neither_read_nor_written(desk: Desk) -> None:
    (desk.root / "link.txt").symlink_to(desk.outside / "secret.txt")
    (desk.root / "new.txt").symlink_to(desk.outside / "new.txt")
    (desk.root / "folder").symlink_to(desk.outside)
    for path in ("link.txt", "new.txt", "folder/secret.txt", "folder/new.txt"):
        await desk.refused("read_file", "policy", path=path)
        await desk.refused("write_file", "policy", path=path, text="x")
    assert [p.name for p in desk.outside.iterdir()] == ["secret.txt"]
    assert (desk.outside / "secret.txt").read_text() == "secret"


async def test_a_link_inside_the_root_is_followed_and_stays_a_link(desk: Desk) -> None:
    (desk.root / "real.txt").write_text("old")
    (desk.root / "link.txt").symlink_to("real.txt")
    assert await desk.run("read_file", path="link.txt") == "old"
    assert (await desk.run("write_file", path="link.txt", text="new"))["path"] == "real.txt"
    assert (desk.root / "link.txt").is_symlink()


async def test_a_loop_of_links_is_refused(desk: Desk) -> None:
    (desk.root / "a").symlink_to("b")
    (desk.root / "b").symlink_to("a")
    with pytest.raises(ToolFailed):
        await desk.run("read_file", path="a")


async def test_links_that_lead_in_a_circle_or_to_nothing_are_neither_listed_nor_packed(desk: Desk) -> None:
    (desk.root / "real.txt").write_text("text")
    targets = {"itself.txt": "itself.txt", "round.txt": "back.txt", "back.txt": "round.txt", "long.txt": "x" * 300}
    for name, target in targets.items():
        (desk.root / name).symlink_to(target)
    assert await desk.run("list_files", pattern="*.txt") == ["real.txt"]
    assert "'back.txt' is a link" in await desk.refused("compress", "policy", paths=".")


async def test_a_root_that_is_a_circle_of_links_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to("root")
    with pytest.raises(ToolFailed, match="there is no folder"):
        Folder(str(tmp_path / "root")).place("a.txt")


@given(path=st.text(max_size=40) | st.text("./~ab\\*é", max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_path_ever_leads_out(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    try:
        real = Folder(str(root)).place(path)
    except ToolFailed as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert real.is_relative_to(root.resolve())


async def test_a_missing_file_is_answered_with_similar_names(desk: Desk) -> None:
    (desk.root / "notes").mkdir()
    (desk.root / "notes" / "report.txt").touch()
    message = await desk.refused("read_file", "not_found", path="notes/raport.txt")
    assert "'report.txt'" in message
    assert "'notes'" in await desk.refused("read_file", "not_found", path="nodes/report.txt")


async def test_a_root_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    named = {tool.name: tool for tool in tools(ToolSettings(str(tmp_path / "missing")))}
    with pytest.raises(ToolFailed, match="no folder"):
        await named["write_file"].run({"path": "a.txt", "text": ""}, ToolEnv())
    assert os.listdir(tmp_path) == []


async def test_a_folder_is_no_file_and_a_file_no_folder(desk: Desk) -> None:
    (desk.root / "folder").mkdir()
    (desk.root / "a.txt").touch()
    assert "is a folder" in await desk.refused("read_file", "invalid_arguments", path="folder")
    assert "is a folder" in await desk.refused("write_file", "invalid_arguments", path="folder", text="")
    assert "is a folder" in await desk.refused("write_file", "invalid_arguments", path="new/", text="")
    assert "is a file" in await desk.refused("list_files", "invalid_arguments", folder="a.txt")
    await desk.refused("write_file", "permanent", path="a.txt/b.txt", text="")


@pytest.mark.timeout(10)
async def test_a_pipe_is_refused_and_does_not_block(desk: Desk) -> None:
    os.mkfifo(desk.root / "pipe")
    await desk.refused("read_file", "invalid_arguments", path="pipe")
    await desk.refused("write_file", "invalid_arguments", path="pipe", text="")


@pytest.mark.parametrize("content", [b"caf\xe9", b"\xff\xfea\0", b"text\0", b"\x89PNG\r\n"])
async def test_what_is_no_utf8_text_is_refused(desk: Desk, content: bytes) -> None:
    (desk.root / "a.txt").write_bytes(content)
    assert "text" in await desk.refused("read_file", "permanent", path="a.txt")


async def test_a_byte_order_mark_is_no_part_of_the_text(desk: Desk) -> None:
    (desk.root / "a.txt").write_bytes(b"\xef\xbb\xbfhello")
    assert await desk.run("read_file", path="a.txt") == "hello"


async def test_files_over_10_mb_are_not_read(desk: Desk) -> None:
    with open(desk.root / "big.txt", "wb") as file:
        file.truncate(10_000_001)
    assert "10 MB" in await desk.refused("read_file", "permanent", path="big.txt")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
async def test_a_file_without_permission_is_one_line(desk: Desk) -> None:
    (desk.root / "a.txt").touch(0o000)
    assert "ermission" in await desk.refused("read_file", "permanent", path="a.txt")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one two\nthree", 3),
        ("你好，世界", 4),
        ("你好 world", 3),
        ("a - b", 3),
        ("用Python写", 3),
        ("こんにちは", 5),
    ],
)
async def test_words_are_counted_with_each_chinese_character_as_one(desk: Desk, text: str, count: int) -> None:
    (desk.root / "a.txt").write_text(text, encoding="utf-8")
    assert await desk.run("count_words", path="a.txt") == count


async def test_files_are_listed_by_pattern_in_order(desk: Desk) -> None:
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt", "sub/deep/e.txt", ".hidden/f.txt", ".ft/journal.txt"):
        (desk.root / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / name).touch()
    (desk.root / "out.txt").symlink_to(desk.outside / "secret.txt")
    listed = {
        "*.txt": ["a.txt", "b.txt"],
        "*": ["a.txt", "b.txt", "c.md"],
        "**/*.txt": ["a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt"],
        "**": ["a.txt", "b.txt", "c.md", "sub/d.txt", "sub/deep/e.txt"],
        "sub/*": ["sub/d.txt"],
        "?.[!t]*": ["c.md"],
        "[ab].txt": ["a.txt", "b.txt"],
        ".hidden/*": [".hidden/f.txt"],
        ".ft/*": [],
        "*.pdf": [],
    }
    assert {pattern: await desk.run("list_files", pattern=pattern) for pattern in listed} == listed
    assert await desk.run("list_files", folder="sub") == ["sub/d.txt"]


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../*"])
async def test_patterns_that_lead_out_are_refused(desk: Desk, pattern: str) -> None:
    await desk.refused("list_files", "policy", pattern=pattern)


@pytest.mark.parametrize("pattern", ["*a" * 40 + "c", "**/" * 200 + "c", "*" * 900, "**/*a" * 60, "[!b]*" * 90 + "c"])
async def test_no_pattern_takes_long(desk: Desk, pattern: str) -> None:
    deep = desk.root.joinpath(*["a" * 20] * 20)
    deep.mkdir(parents=True)
    (deep / ("a" * 200 + "b")).touch()
    began = time.monotonic()
    await desk.run("list_files", pattern=pattern)
    assert time.monotonic() - began < 1


def naive(parts: list[str], names: list[str]) -> bool:
    if not parts or not names:
        return not names and all(part == "**" for part in parts)
    if parts[0] == "**":
        return naive(parts[1:], names) or naive(parts, names[1:])
    return fnmatchcase(names[0], parts[0]) and naive(parts[1:], names[1:])


@given(st.lists(st.text("ab", max_size=4), min_size=1, max_size=4), st.lists(st.text("ab*?", max_size=5), max_size=5))
def test_a_pattern_means_what_the_slow_way_says(names: list[str], parts: list[str]) -> None:
    assert matcher("/".join(parts))("/".join(names)) == naive("/".join(parts).split("/"), names)


async def test_the_home_folder_stays_closed_in_every_case(desk: Desk) -> None:
    await desk.refused("write_file", "policy", path=".FT/journal.db", text="x")


@given(pattern=st.text(max_size=20) | st.text("*?[]!^-\\/ab.", max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_any_pattern_gives_a_list_or_one_line(tmp_path: Path, pattern: str) -> None:
    (list_files, *_) = tools(ToolSettings(str(tmp_path)))
    (tmp_path / "ab").touch()
    try:
        assert await list_files.run({"pattern": pattern}, ToolEnv()) in ([], ["ab"])
    except ToolFailed as error:
        assert len(str(error).splitlines()) == 1


async def test_a_copy_goes_to_a_name_or_into_a_folder(desk: Desk) -> None:
    (desk.root / "report.txt").write_text("text")
    (desk.root / "there").mkdir()
    for target, path in (("b.txt", "b.txt"), ("backup/", "backup/report.txt"), ("there", "there/report.txt")):
        assert await desk.run("copy_file", source="report.txt", target=target) == {"path": path, "bytes": 4}
        assert (desk.root / path).read_text() == "text"


async def test_a_file_is_not_copied_onto_itself_or_outside(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("text")
    await desk.refused("copy_file", "invalid_arguments", source="a.txt", target="./a.txt")
    await desk.refused("copy_file", "policy", source="a.txt", target="/")
    await desk.refused("copy_file", "policy", source=str(desk.outside / "secret.txt"), target="b.txt")
    assert (desk.root / "a.txt").read_text() == "text"


@pytest.mark.parametrize("name", ["packed.zip", "packed.tar.gz", "packed.tgz"])
async def test_an_archive_holds_files_and_folders(desk: Desk, name: str) -> None:
    (desk.root / "sub").mkdir()
    (desk.root / "sub" / "a.txt").write_text("A")
    (desk.root / "b.txt").write_text("B")
    packed = await desk.run("compress", paths=["sub", "b.txt", "sub/a.txt"], archive=f"sub/{name}")
    path = desk.root / "sub" / name
    assert packed == {"path": f"sub/{name}", "bytes": path.stat().st_size, "files": 2}
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as zipped:
            assert {n: zipped.read(n) for n in zipped.namelist()} == {"sub/a.txt": b"A", "b.txt": b"B"}
    else:
        with tarfile.open(path) as tarred:
            assert sorted(tarred.getnames()) == ["b.txt", "sub/a.txt"]
            assert all(member.isreg() and member.uid == 0 for member in tarred)


@pytest.mark.parametrize(
    ("paths", "name"),
    [("a/report.txt", "a/report.zip"), (["a"], "a.zip"), (["a", "b.txt"], "archive.zip"), (".", "archive.zip")],
)
async def test_an_archive_without_a_name_is_called_after_what_it_holds(desk: Desk, paths: Any, name: str) -> None:
    (desk.root / "a").mkdir()
    (desk.root / "a" / "report.txt").touch()
    (desk.root / "b.txt").touch()
    assert (await desk.run("compress", paths=paths))["path"] == name


async def test_what_can_not_be_packed_is_refused(desk: Desk) -> None:
    (desk.root / "a.txt").touch()
    (desk.root / "empty").mkdir()
    assert ".zip" in await desk.refused("compress", "invalid_arguments", paths="a.txt", archive="a.rar")
    await desk.refused("compress", "invalid_arguments", paths=[])
    await desk.refused("compress", "invalid_arguments", paths="empty")
    await desk.refused("compress", "not_found", paths=["a.txt", "b.txt"])
    assert sorted(os.listdir(desk.root)) == ["a.txt", "empty"]


async def test_a_link_out_of_the_root_in_a_folder_is_not_packed(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    (desk.root / "sub" / "secret.txt").symlink_to(desk.outside / "secret.txt")
    await desk.refused("compress", "policy", paths="sub")
    (desk.root / "sub" / "secret.txt").unlink()
    (desk.root / "sub" / "folder").symlink_to(desk.outside)
    await desk.refused("compress", "policy", paths="sub")


async def test_look_ups_tell_by_content_whether_a_write_happened(desk: Desk) -> None:
    (desk.root / "report.txt").write_text("text")
    writes: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": "a.txt", "text": "text"}),
        ("copy_file", {"source": "report.txt", "target": "backup/"}),
        ("compress", {"paths": "report.txt"}),
        ("compress", {"paths": "report.txt", "archive": "r.tar.gz"}),
    ]
    for name, args in writes:
        assert await desk.look_up(name, **args) is None
        output = await desk.run(name, **args)
        assert await desk.look_up(name, **args) == output
    (desk.root / "report.txt").write_text("other")
    assert [await desk.look_up(name, **args) for name, args in writes[1:]] == [None] * 3
    assert await desk.look_up("write_file", path="a.txt", text="other") is None


async def test_a_look_up_of_a_refused_write_says_that_nothing_happened(desk: Desk) -> None:
    assert await desk.look_up("write_file", path="../a", text="") is None
    (desk.root / "a.zip").write_bytes(b"no archive")
    (desk.root / "a.txt").touch()
    assert await desk.look_up("compress", paths="a.txt") is None


@given(text=TEXT)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_any_text_is_written_whole(tmp_path: Path, text: str) -> None:
    named = {tool.name: tool for tool in tools(ToolSettings(str(tmp_path)))}
    written = await named["write_file"].run({"path": "a.txt", "text": text}, ToolEnv())
    assert (tmp_path / "a.txt").read_bytes() == text.encode()
    assert written["bytes"] == len(text.encode())


async def test_half_a_character_is_not_written(desk: Desk) -> None:
    await desk.refused("write_file", "invalid_arguments", path="a.txt", text="a\ud800")


def test_only_writes_are_writes_and_what_files_say_is_not_believed(desk: Desk) -> None:
    assert {name for name, tool in desk.tools.items() if tool.effect == "write"} == {
        "write_file",
        "copy_file",
        "compress",
    }
    assert desk.tools["read_file"].untrusted
    assert desk.tools["compress"].output_schema is not None
    assert set(desk.tools["compress"].output_schema["required"]) == {"path", "bytes", "files"}
