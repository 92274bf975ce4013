"""S4: a small web calculator: its test finds a missing element and a missing script link, which are mended first."""

from pathlib import Path
from typing import Any

import pytest

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import (
    TURNING,
    after_planning,
    grade,
    in_turns,
    look,
    plan,
    reflection,
    results,
    says,
    statuses,
    step,
)  # fmt: skip
from tests.support.script import Reply
from tools import sandbox

TASK = "Make a small web calculator: index.html, app.js and style.css in one folder, and test that they fit together."
BROKEN = """<html><head><link rel="stylesheet" href="style.css"></head>
<body><input id="a"><input id="b"><button id="add">+</button></body></html>"""
MENDED = BROKEN.replace("</body>", '<output id="result"></output><script src="app.js"></script></body>')
SCRIPT = """const get = (id) => document.getElementById(id);
document.getElementById("add").onclick = () => {
  document.getElementById("result").textContent =
    Number(document.getElementById("a").value) + Number(document.getElementById("b").value);
};"""
STYLE = "button { font-size: 2em }"
CHECK = """import re
from html.parser import HTMLParser

class Page(HTMLParser):
    ids, links = [], []
    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("src", "href") if name in given]

page = Page()
page.feed(inputs["html"])
wanted = re.findall(r'getElementById[(]"([a-z]+)"[)]', inputs["script"])
result = {
    "ids": sorted(set(wanted) - set(page.ids)),
    "links": sorted({"app.js", "style.css"} - set(page.links)),
}"""
FITS = ["result['ids'] == []", "result['links'] == []"]
pytestmark = [pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
async def walls() -> None:
    try:
        await sandbox.run("", {}, seconds=5)
    except ToolFailed as why:
        pytest.skip(f"no code is run on this machine: {why}")


def made(html: str, mark: str = "", *others: dict[str, Any]) -> list[dict[str, Any]]:
    """The page written, read back with its script, and tested; `others` are written beside it."""
    written = [f"html{mark}", *(one["id"] for one in others)]
    return [
        step(f"html{mark}", "write_file", path="index.html", text=html), *others,
        step(f"page{mark}", "read_file", path="index.html", more={"after": written}),
        step(f"code{mark}", "read_file", path="app.js", more={"after": written}),
        step(f"test{mark}", "run_python", code=CHECK,
             inputs={"html": f"${{steps.page{mark}}}", "script": f"${{steps.code{mark}}}"}, more={"accept": FITS}),
    ]  # fmt: skip


FIRST = made(
    BROKEN, "", step("script", "write_file", path="app.js", text=SCRIPT),
    step("style", "write_file", path="style.css", text=STYLE),
)  # fmt: skip
SECOND = made(MENDED, "2")
REPLIES: dict[str, list[Reply]] = {
    "plan_and_execute": [plan(*FIRST), plan(*SECOND), says("It works.")],
    "self_reflection": [
        plan(*FIRST), reflection("add the element and the link", "step"), plan(*SECOND), says("It works."), grade(),
    ],
    "plan_act_reflect": [
        plan(*FIRST), look("revise", "add the element and the link", "step", steps=["html"]), plan(*SECOND), look(),
        says("It works."),
    ],
}  # fmt: skip


def run(pattern: str, root: Path, **more: Any) -> dict[str, Any]:
    tools = ["write_file", "read_file", "run_python"]
    return load(pattern, context={"tools": tools, "root": str(root), "writes": "allow", **more}).invoke({"task": TASK})[
        "report"
    ]


@pytest.mark.parametrize("pattern", REPLIES)
def test_what_the_test_step_found_is_mended_before_it_is_tested_again(
    pattern: str, model_server: ModelServer, root: Path
) -> None:
    model_server.reply(*REPLIES[pattern])
    report = run(pattern, root)
    assert report["stop"]["reason"] == "done"
    ran = results(report)
    assert (ran["test"]["status"], ran["test"]["output"]["result"]) == (
        "failed", {"ids": ["result"], "links": ["app.js"]},
    )  # fmt: skip
    assert (ran["test2"]["status"], ran["test2"]["output"]["result"]) == ("done", {"ids": [], "links": []})
    assert ran["html2"]["ended"] <= ran["page2"]["started"] <= ran["test2"]["started"]
    assert "result['ids'] == []" in report["plans"][1]["reason"]
    assert {file.name: file.read_text() for file in root.iterdir()} == {
        "index.html": MENDED, "app.js": SCRIPT, "style.css": STYLE,
    }  # fmt: skip
    assert [line.split(":")[0] for line in report["writes"]] == ["html", "script", "style", "html2"]


@pytest.mark.parametrize("pattern", TURNING)
def test_a_reasoner_sees_what_the_test_found_mends_it_and_tests_again(
    pattern: str, model_server: ModelServer, root: Path
) -> None:
    mended, read, _, tested = SECOND  # nobody changed the script: it is not read again
    again = {**tested, "args": {**tested["args"], "inputs": {"html": "${steps.page2}", "script": "${steps.code}"}}}
    model_server.reply(*in_turns(*FIRST, mended, read, again), *after_planning(pattern, "It works."))
    report = run(pattern, root, limits={"iterations": 12})
    assert report["stop"]["reason"] == "done"
    found = [one["output"]["result"] for one in report["results"] if one["tool"] == "run_python"]
    assert found == [{"ids": ["result"], "links": ["app.js"]}, {"ids": [], "links": []}]
    assert "app.js" in model_server.requests[6]["messages"][-1]["content"]
    assert {file.name: file.read_text() for file in root.iterdir()} == {
        "index.html": MENDED, "app.js": SCRIPT, "style.css": STYLE,
    }  # fmt: skip
    assert [line.split(":")[0] for line in report["writes"]] == ["t1", "t2", "t3", "t7"]


@pytest.mark.parametrize("pattern", ["one_shot", "rewoo"])
def test_without_another_version_the_report_says_what_does_not_fit(
    pattern: str, model_server: ModelServer, root: Path
) -> None:
    model_server.reply(plan(*FIRST))
    if pattern == "rewoo":
        model_server.reply(says("The page has no element result."))
    report = run(pattern, root)
    assert report["stop"]["reason"] == "not_accepted" and statuses(report)["test"] == "failed"
    assert results(report)["test"]["output"]["result"] == {"ids": ["result"], "links": ["app.js"]}
