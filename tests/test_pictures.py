"""Plans and runs as Mermaid, DOT, SVG, HTML and time lines: what they show, and that no text becomes markup."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given, settings
from hypothesis import strategies as st

import graphs
from graphs._drawing import LOOKS, drawing_of_report
from graphs._timeline import bars
from graphs._words import one_line
from state.errors import InputError
from state.events import event_record
from state.result import failure
from tests.support.drawn import a_plan, a_report, a_result, a_step

HOSTILE = (
    "<script>alert(1)</script>", '"]; evil[(x', "a\nb --> c", "</svg><img src=x onerror=alert(1)>", "%%{init: {}}%%",
    "click n1 call x()", "&lt;b&gt; &amp;", "\\N\\", "]]> <!-- -->", "end", "subgraph", "graph", "#quot;", "`x`",
    "\x00\x1b[31m", "\ud800", "\ufffe", "\u202egnp.exe", "汇总销售数据并发送给经理审核", "x" * 5000,
    "javascript:alert(1)", "]]]", "--x", "",
)  # fmt: skip
TAGS = {
    "svg", "title", "style", "rect", "g", "path", "text",
    "html", "head", "meta", "body", "h1", "h2", "h3", "p", "pre", "ul", "li", "div", "table", "thead", "tbody", "tr",
    "th", "td", "details", "summary",
}  # fmt: skip
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))


def hostile_run(text: str) -> Any:
    """A run in which one text stands wherever a text can stand."""
    other = {"fallback": {"tool": text, "args": {}}, "each": text, "effect": "write"}
    steps = [a_step(text, tool=text, why=text), a_step(f"{text}2", tool=text, after=[text], **other)]
    done = a_result(steps[0], output=text, note=text, args={text: text})
    lost = a_result(steps[1], "failed", failure=failure("permanent", text))
    report = a_report(
        [a_plan(*steps, reason=text), a_plan(steps[0], version=2, reason=text)], [done, lost], task=text, answer=text,
        missing=[text], notes=[text], thoughts=[{"text": text}], models={text: text},
    )  # fmt: skip
    return {"report": report, "events": [event_record("r", text, step=text, reason=text, evidence=[text], next=text)]}


def tags_of_svg(svg: str) -> Iterator[Any]:
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in TAGS
        assert not any(name.startswith("on") or "href" in name for name in element.attrib)
        yield element


def check_html(html: str) -> BeautifulSoup:
    soup = BeautifulSoup(html, "html.parser")
    for element in soup.find_all(True):
        assert element.name in TAGS
        assert not any(name.startswith("on") or name in ("href", "src") for name in element.attrs)
    return soup


@given(texts)
@example("<script>alert(1)</script>")
@settings(max_examples=60, deadline=None)
def test_no_text_becomes_markup_in_svg_and_html(text: str) -> None:
    run = hostile_run(text)
    shown = one_line(text)
    for svg in (graphs.picture(run).svg, graphs.picture(run, version=1).svg, graphs.timeline(run).svg):
        tips = [element.text or "" for element in tags_of_svg(svg) if element.tag.endswith("title")]
        assert shown[:50] in " ".join(" ".join(tips).split())
    soup = check_html(graphs.show(run).html)
    assert one_line(soup.find("h1").get_text())[:50] == shown[:50].rstrip() or len(shown) > 290  # type: ignore[union-attr]


@given(texts)
@example('"]; evil[(x')
@settings(max_examples=60, deadline=None)
def test_no_text_becomes_syntax_in_mermaid_and_dot(text: str) -> None:
    picture = graphs.picture(hostile_run(text), version=1)
    lines = picture.mermaid.split("\n")
    assert len(lines) == 10 and lines[0].startswith("%% ") and lines[1] == "flowchart TD"
    boxes = re.compile(r'  (n\d+)(\[|\[\[)"[^"`\x00-\x1f]*"(\]|\]\]):::s\d')
    assert all(boxes.fullmatch(line) for line in lines[2:4])
    assert lines[4] == "  n1 -.-> n2"
    rows = picture.dot.split("\n")
    label = r'"(?:[^"\\]|\\.)*"'
    assert len(rows) == 8 and all(re.fullmatch(rf"  n\d \[label={label}, color=.*\]", row) for row in rows[3:5])
    assert rows[5] == "  n1 -> n2 [style=dashed]"


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_graphviz_draws_what_was_said(text: str) -> None:
    dot = graphs.picture(hostile_run(text), version=1).dot
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, encoding="utf-8", timeout=50, check=True)
    said = "".join(ElementTree.fromstring(drawn.stdout).itertext()).replace("\xa0", " ")
    assert " ".join(one_line(text, 60)[:40].split()) in " ".join(said.split())


# ---- what is shown


def test_each_state_has_a_word_a_sign_and_a_frame_of_its_own() -> None:
    looks = [look for state, look in LOOKS.items() if state]
    assert len({look.sign for look in looks}) == len(looks) and all(look.sign for look in looks)
    statuses: Any = ["done", "degraded", "failed", "blocked", "skipped", "waiting", "unknown", "not_run"]
    steps = [a_step(f"s{place}") for place in range(8)]
    run = a_report([a_plan(*steps)], [a_result(s, status) for s, status in zip(steps, statuses, strict=True)])
    said = texts_of(graphs.picture(run).svg)
    for word in ("done", "fallback", "failed", "blocked", "skipped", "asks you", "unknown", "not run"):
        assert said.count(word) == 2, f"{word} stands in the box and in the legend"
        assert f"({word}" in graphs.picture(run).mermaid and f"({word}" in graphs.picture(run).dot


def texts_of(svg: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_references_are_solid_and_mere_order_is_dashed() -> None:
    steps = [a_step("a"), a_step("b", "a", after=["a"]), a_step("c", after=["a"]), a_step("d", when="steps.a.n > 1")]
    edges = {(e.source, e.target): e.dashed for e in graphs.picture(a_plan(*steps)).drawing.edges}
    assert edges == {("a", "b"): False, ("a", "c"): True, ("a", "d"): False}


def test_writes_fallbacks_parts_tries_and_versions_are_marked() -> None:
    parts: Any = [{"status": status} for status in ("done", "degraded", "failed")]
    steps = [
        a_step("w", effect="write", critical=True, version=2),
        a_step("f", fallback={"value": 7}),
        a_step("m", each="${steps.f}"),
    ]
    results = [a_result(steps[0], attempts=3), a_result(steps[1], "degraded"), a_result(steps[2], parts=parts)]
    run = a_report([a_plan(*steps), a_plan(*steps, version=2)], results)
    said = texts_of(graphs.picture(run).svg)
    for words in (
        "write",
        "calculator · critical · plan 2",
        "else 7",
        "each of ${steps.f}",
        "1.0 s, 2 of 3 parts",
        "1.0 s, 3 tries",
    ):
        assert words in said
    assert 'n1[["w #' not in graphs.picture(run).mermaid and "n1[[" in graphs.picture(run).mermaid
    assert "peripheries=2" in graphs.picture(run).dot


def test_a_finished_step_of_an_earlier_version_stays_in_the_picture_of_the_run() -> None:
    old, new = a_step("a"), a_step("b", version=2)
    run = a_report([a_plan(old, a_step("x")), a_plan(new, version=2)], [a_result(old), a_result(new)])
    assert [node.name for node in drawing_of_report(run).nodes] == ["a", "b"]
    assert [(node.name, node.state) for node in drawing_of_report(run, 1).nodes] == [("a", "done"), ("x", "not run")]


def test_a_plan_that_has_not_run_is_planned() -> None:
    assert {node.state for node in graphs.picture(a_plan(a_step("a"))).drawing.nodes} == {"planned"}


def test_what_can_not_be_drawn_is_said() -> None:
    with pytest.raises(InputError, match="can't be drawn: give a report"):
        graphs.picture({"task": "x"})
    with pytest.raises(InputError, match="there is no plan 3 in this run; there are: 1"):
        graphs.picture(a_report([a_plan(a_step("a"))], []), version=3)


def test_a_picture_is_saved_by_the_ending_of_its_file_and_a_pattern_is_drawn_by_its_name(tmp_path: Any) -> None:
    picture = graphs.picture("rewoo")
    for name, begins in (("p.svg", "<svg "), ("p.mmd", "%% "), ("p.dot", "digraph")):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
    with pytest.raises(InputError, match=r"what \.pdf holds is not drawn here"):
        picture.save(tmp_path / "p.pdf")
    with pytest.raises(InputError, match="there is no pattern 'rewo'"):
        graphs.picture("rewo")


def test_a_run_without_a_plan_is_drawn_and_shown() -> None:
    run = a_report([], [])
    assert "<svg" in graphs.picture(run).svg and "no step ran" in graphs.timeline(run).svg
    assert "there is no plan" in graphs.show(run).html


@pytest.mark.parametrize("name", graphs.names())
def test_a_pattern_is_drawn_whole(name: str) -> None:
    graph = graphs.load(name)
    said = texts_of(graphs.picture(graph).svg)
    assert {key for key in graph.get_graph().nodes if not key.startswith("__")} <= set(said)


# ---- time line


def test_the_time_line_has_a_bar_for_each_step_that_ran_in_the_order_of_its_start() -> None:
    a, b, c = a_step("a"), a_step("b"), a_step("c")
    results = [a_result(b, started=11.0, seconds=1.0), a_result(a, started=10.0, seconds=4.0), a_result(c, "blocked")]
    shown, waits = bars(results)
    assert [(bar.step, bar.at, bar.to) for bar in shown] == [("a", 0.0, 1.0), ("b", 0.25, 0.5)] and waits == []


def test_a_long_wait_is_cut_out_and_named() -> None:
    steps = [a_step("a"), a_step("b")]
    results = [a_result(steps[0], started=0.0, seconds=4.0), a_result(steps[1], started=3604.0, seconds=4.0)]
    shown, (wait,) = bars(results)
    assert shown[0].to == pytest.approx(0.4) and shown[1].at == pytest.approx(0.6) and wait.seconds == 3600.0
    assert "60.0 min cut out" in texts_of(graphs.timeline(a_report([], results)).svg)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1, 1e5)), max_size=12))
@settings(deadline=None)
def test_no_bar_leaves_the_time_line(times: list[tuple[float, float]]) -> None:
    results = [a_result(a_step(f"s{i}"), started=at, seconds=took) for i, (at, took) in enumerate(times)]
    shown, waits = bars(results)
    assert len(shown) == len(times) and all(0 <= bar.at <= bar.to <= 1 for bar in shown)
    assert all(0 <= wait.at <= 1 for wait in waits)


@pytest.mark.parametrize("width", [20, 80, 200])
def test_the_time_line_as_text_keeps_to_a_width(width: int) -> None:
    from graphs._timeline import timeline_lines

    lines = timeline_lines([a_result(a_step(f"s{i}"), started=float(i)) for i in range(5)], width)
    assert len(lines) == 5 and all(len(line) <= max(width, 50) and "█" in line for line in lines)


# ---- in a notebook


def test_a_run_shows_itself_in_a_notebook_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *a: pytest.fail("network"))
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: pytest.fail("network"))
    result = graphs.load("one_shot").invoke({"task": "add 17 and 25, then multiply it by 3"})
    for shown in (graphs.picture(result), graphs.timeline(result), graphs.picture(graphs.load("react"))):
        bundle = shown._repr_mimebundle_()
        assert bundle["image/svg+xml"] == shown._repr_svg_() and "<svg" in shown._repr_html_()
        assert not re.search(r"(?:src|href|url)\s*[=(]|@import", bundle["text/html"])
    frame = BeautifulSoup(graphs.show(result)._repr_html_(), "html.parser").find("iframe")
    assert frame is not None and "sandbox" in frame.attrs and frame["srcdoc"] == graphs.show(result).html


def test_a_page_needs_nothing_from_outside_and_allows_no_script() -> None:
    soup = check_html(graphs.show(graphs.load("one_shot").invoke({"task": "2 + 3"})).html)
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert policy is not None and str(policy["content"]).startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_a_page_tells_the_whole_run() -> None:
    result = graphs.load("plan_and_execute").invoke({"task": "add 17 and 25, then multiply it by 3"})
    soup = check_html(graphs.show(result).html)
    heads = [head.get_text() for head in soup.find_all("h2")]
    for head in ("Answer", "Plan as it ran", "Time line", "Versions of the plan", "Steps", "Cost", "Events"):
        assert head in heads
    assert len(soup.find_all("svg")) >= 2 and "126" in soup.get_text()


def test_a_page_is_saved(tmp_path: Any) -> None:
    page = graphs.show(a_report([], []))
    page.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page.html


def test_pixels_are_drawn_where_the_extra_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = graphs.picture(a_plan(a_step("a")))
    assert picture.png.startswith(b"\x89PNG")
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(Exception, match=r"pip install -e '\.\[png\]'"):
        _ = picture.png
