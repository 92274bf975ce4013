import asyncio
import gc
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from state.errors import ToolFailed
from tools.documents import tools
from tools.settings import ToolSettings
from tools.text import passages
from tools.tool import ToolEnv

FILES = {
    "film.md": "# Best Picture 2021\n\nNomadland won. It was directed by Chloé Zhao.\n",
    "zhao.txt": "赵婷，1982年出生于北京，是一位电影导演。",
    "weather/paris.html": "<html><head><title>Paris &amp; rain</title><style>p{}</style></head><body>"
    "<p>It is <b>12</b> °C, clou<i>dy</i>.</p><script>alert('sun')</script><p>今天多云</p></body></html>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        put(tmp_path / name, text)
    return tmp_path


def put(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


async def search(folder: Path, query: str, root: Path | None = None, **args: Any) -> list[dict[str, Any]]:
    (tool,) = tools(ToolSettings(root=str(root or folder), documents=str(folder), home=str(folder / "home")))
    return list(await tool.run({"query": query, **args}, ToolEnv()))


async def paths(folder: Path, query: str, **args: Any) -> list[str]:
    return [hit["path"] for hit in await search(folder, query, **args)]


async def test_a_hit_has_path_title_text_and_score(folder: Path) -> None:
    (hit,) = await search(folder, "Who directed Nomadland?")
    assert hit == {"path": "film.md", "title": "Best Picture 2021", "text": FILES["film.md"].strip(), "score": 1.0}


@pytest.mark.parametrize("query", ["赵", "北京", "导演", "电影导演", "出生于北京", "1982年", "赵婷 的 电影"])
async def test_chinese_is_found_from_one_character_on(folder: Path, query: str) -> None:
    assert (await paths(folder, query))[0] == "zhao.txt"


@pytest.mark.parametrize("query", ["京北", "上海", "Shanghai", "unknown words"])
async def test_no_hits_are_an_empty_list(folder: Path, query: str) -> None:
    assert await search(folder, query) == []


async def test_accents_case_and_endings_do_not_matter(folder: Path) -> None:
    assert await paths(folder, "CHLOE") == await paths(folder, "winning wins Nomadlands") == ["film.md"]


async def test_common_words_alone_find_nothing_else(folder: Path) -> None:
    put(folder / "other.txt", "the who and the what of it")
    assert await paths(folder, "who is the director of the Nomadland") == ["film.md"]


async def test_html_is_searched_as_text_without_scripts(folder: Path) -> None:
    (hit,) = await search(folder, "cloudy")
    assert (hit["path"], hit["title"]) == ("weather/paris.html", "Paris & rain")
    assert hit["text"].split() == ["It", "is", "12", "°C,", "cloudy.", "今天多云"]
    assert await search(folder, "alert sun") == []


async def test_html_in_a_declared_encoding_is_read(folder: Path) -> None:
    put(folder / "gb.html", "<html><head><meta charset='gb18030'></head><p>上海天气</p>".encode("gb18030"))
    put(folder / "x.html", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p>xhtml</p></html>")
    put(folder / "plain.html", "plain.html")
    assert await paths(folder, "上海") == ["gb.html"]
    assert await paths(folder, "xhtml") == ["x.html"]


async def test_the_best_passage_comes_first_and_not_the_whole_file(folder: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n} is about nothing at all. " * 8 for n in range(40))
    put(folder / "long.txt", f"{filler}\n\nThe treasure lies under the old oak.\n\n{filler}\n\nThe oak is old.")
    hits = await search(folder, "treasure under the oak", limit=2)
    assert "treasure" in hits[0]["text"]
    assert len(hits) == 2
    assert all(len(hit["text"]) <= 800 for hit in hits)
    assert hits[0]["score"] > hits[1]["score"]


@pytest.mark.parametrize("limit", [0, 21, "many"])
async def test_a_limit_that_makes_no_sense_is_refused(folder: Path, limit: Any) -> None:
    with pytest.raises(ToolFailed, match="limit") as caught:
        await search(folder, "Paris", limit=limit)
    assert caught.value.failure == "invalid_arguments"


@pytest.mark.parametrize("query", ["", " ", "?!", '"'])
async def test_a_query_without_a_word_is_refused(folder: Path, query: str) -> None:
    with pytest.raises(ToolFailed, match="no word"):
        await search(folder, query)


@pytest.mark.parametrize(
    "query", ['"Nomadland', "Nomadland*", "NEAR(Nomadland", "title:Nomadland", "Nomadland AND", "{Nomadland"]
)
async def test_syntax_of_the_index_is_only_text(folder: Path, query: str) -> None:
    assert "film.md" in await paths(folder, query)


@given(query=st.text(max_size=60) | st.text('"*:(){}^-+ANDORNEAR 北京\0', max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_any_query_gives_a_list_or_says_that_it_has_no_word(folder: Path, query: str) -> None:
    try:
        assert all(0 < hit["score"] <= 1 for hit in await search(folder, query))
    except ToolFailed as error:
        assert "no word" in str(error)


async def test_changed_new_and_removed_files_are_noticed(folder: Path) -> None:
    assert await paths(folder, "Nomadland") == ["film.md"]
    put(folder / "film.md", "CODA won in 2022.")
    put(folder / "new.txt", "Parasite won in 2020.")
    os.remove(folder / "zhao.txt")
    assert await paths(folder, "Nomadland") == await paths(folder, "北京") == []
    assert sorted(await paths(folder, "won")) == ["film.md", "new.txt"]


async def test_unreadable_files_are_skipped_and_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(folder / "binary.txt", b"Nomadland\0\x01")
    put(folder / "latin.txt", b"Nomadland caf\xe9")
    put(folder / "odd.html", b"<meta charset='nonsense'>Nomadland")
    put(folder / "picture.png", b"Nomadland")
    with caplog.at_level(logging.WARNING, "tools.documents"):
        assert await paths(folder, "Nomadland") == ["film.md"]
        assert await paths(folder, "Nomadland") == ["film.md"]
    said = sorted(record.getMessage().split(":")[0] for record in caplog.records)
    assert said == ["search skips binary.txt", "search skips latin.txt", "search skips odd.html"]


async def test_links_out_of_the_folder_hidden_files_and_our_own_are_left_out(
    folder: Path, tmp_path_factory: Any
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    put(outside / "secret.txt", "Nomadland secret")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "linked").symlink_to(outside)
    put(folder / ".hidden" / "a.txt", "Nomadland")
    put(folder / "home" / "artefact.txt", "Nomadland")
    assert await paths(folder, "Nomadland") == ["film.md"]


def odd_links(folder: Path) -> None:
    """Links to themselves, to each other, to nothing, and to a name that is longer than any."""
    (folder / "itself.txt").symlink_to("itself.txt")
    (folder / "a.md").symlink_to("b.md")
    (folder / "b.md").symlink_to("a.md")
    (folder / "nothing.txt").symlink_to("missing.txt")
    (folder / "long.html").symlink_to("x" * 300)
    (folder / "round").symlink_to("round/round")


async def test_links_that_lead_in_a_circle_or_to_nothing_are_passed_over(folder: Path) -> None:
    odd_links(folder)
    assert await paths(folder, "Nomadland") == ["film.md"]


async def test_paths_are_those_that_the_file_tools_understand(tmp_path: Path) -> None:
    put(tmp_path / "docs" / "a.txt", "treasure")
    assert await paths(tmp_path / "docs", "treasure", root=tmp_path) == ["docs/a.txt"]
    put(tmp_path / "root" / "b.txt", "")
    assert await paths(tmp_path / "docs", "treasure", root=tmp_path / "root") == ["a.txt"]


async def test_a_folder_without_documents_is_a_failure_that_says_so(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ToolFailed) as caught:
            await search(folder, "treasure")
        assert caught.value.failure == "not_found"


async def test_searches_side_by_side_find_the_same(folder: Path) -> None:
    found = await asyncio.gather(*(paths(folder, "Nomadland") for _ in range(20)))
    assert found == [["film.md"]] * 20
    gc.collect()


def test_the_output_counts_as_not_trusted(tmp_path: Path) -> None:
    (tool,) = tools(ToolSettings(documents=str(tmp_path)))
    assert tool.untrusted
    assert tool.effect == "read"


@given(text=st.text("ab. !\n。你", max_size=400), size=st.integers(5, 50))
@example(text="aaa。\n\naa", size=5)
def test_passages_keep_every_word_and_the_size(text: str, size: int) -> None:
    parts = list(passages(text, size))
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(part) <= size for part in parts)
