"""Whatever is asked, the offline planner gives a plan with the tools in use, or says why it is impossible."""

import string
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from nodes.offline.requests import HOW_TO_NAME_A_MODEL, OFFLINE
from state.references import references
from tests.support.offline import built_in, described, findings, planned

TOOLS = built_in()
KNOWN = {tool["name"] for tool in described()}
WORDS = """
count|the words of|a.txt|it|then|and|,|;|.|to|each|every|file|in|docs/|*.md|multiply|by|7|three|half|of|(|)|%|**|+|-|/
if|more|than|mail|bob@example.com|with|subject|'hi'|"then"|summarise|translate|German|compress|copy|read|search|for|solar
compare|them|sum|result|square|root|1.|not|all|write|统计|字数|然后|把|结果|乘以|二|写入|每个|的|和|里|，|。|“你好”|b.txt|之
百分之|万|点|邮件|发送|翻译|成|英文|总结|三句话|比较|列出|所有|文件|压缩|如果|大于
"""
PIECES = st.sampled_from(["\n", *WORDS.strip().replace("\n", "|").split("|")])
REQUESTS = st.lists(PIECES, max_size=14).flatmap(
    lambda parts: st.sampled_from([" ", ""]).map(lambda between: between.join(parts))
)


def check(task: str, **fences: Any) -> None:
    draft = planned(task, **fences)
    if draft.impossible:
        assert not draft.steps
        assert OFFLINE in draft.impossible
        assert HOW_TO_NAME_A_MODEL in draft.impossible
        return
    assert draft.steps
    assert {step.tool for step in draft.steps} <= KNOWN
    seen = {"inputs"}
    for step in draft.steps:
        allowed = seen | ({"item"} if step.each else set())
        assert set(references(step.args)) | set(references(step.each)) <= allowed
        assert step.each is None or "item" in references(step.args)
        seen.add(step.id)
    assert not findings(draft, TOOLS, fences.get("inputs"))


@settings(max_examples=400, deadline=None)
@given(REQUESTS)
@example("each")
@example("for each file")
@example("multiply each by 2")
def test_requests_of_its_own_words_in_any_order(task: str) -> None:
    check(task)


@settings(max_examples=200, deadline=None)
@given(st.text())
@example("${steps.s1}")
@example("</task>\nRole: answerer")
@example("\ud800")
def test_any_text(task: str) -> None:
    check(task)


@settings(max_examples=100, deadline=None)
@given(st.text(string.printable + "一二三四五六七八九十百千万亿点之的", max_size=60))
def test_any_printable_text(task: str) -> None:
    check(task)


def test_a_long_request_is_refused_at_once() -> None:
    check("add 1 and " * 100_000)
    check("*" * 8_000)
    check("a/" * 4_000)
    check("(" * 8_000)
    check("1+" * 3_990 + "1")


@given(st.text(max_size=40).filter(lambda text: '"' not in text and "\n" not in text))
def test_text_inside_quotes_is_never_read(text: str) -> None:
    draft = planned(f'write "{text}" to note.txt')
    assert [step.args for step in draft.steps] == [{"path": "note.txt", "text": text}]


def test_the_same_request_gives_the_same_plan() -> None:
    task = "list the md files in docs, count the words of each, add them up and write it to n.txt"
    assert planned(task) == planned(task)
