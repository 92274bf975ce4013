"""Requests about files, documents and mail, carried out with the real tools: the plan's values are the right ones."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from nodes.offline.requests import HOW_TO_NAME_A_MODEL
from tests.support.offline import built_in, carried_out, findings, lines, planned

FILES = {
    "README.md": "one two three four five six seven\n",
    "a.txt": "The sun shines. Solar power uses the light of the sun. Power from the sun is clean power. Cats sleep.\n",
    "b.txt": "alpha beta gamma\n",
    "report.txt": "all is well\n",
    "docs/x.md": "one two three\n",
    "docs/y.md": "four five six seven eight\n",
    "docs/z.txt": "nine\n",
    "docs/solar.md": "Solar panels make power from the light of the sun.\n",
    "报告.txt": "太阳能很干净。它来自太阳的光。太阳能板用太阳的光发电。猫在睡觉。\n",
}
WORDS = {"README.md": 7, "a.txt": 20, "b.txt": 3, "docs/x.md": 3, "docs/y.md": 5, "docs/solar.md": 10, "docs/z.txt": 1}
LAST: list[tuple[str, Any]] = [
    ("count the words of README.md", 7),
    ("how many words are in README.md?", 7),
    ("How many words does b.txt have?", 3),
    ("what is the word count of README.md plus 5", 12),
    ("count words in b.txt then triple it then subtract 1", 8),
    ("count the words of README.md and multiply by 2", 14),
    ("multiply the number of words in README.md by 3", 21),
    ("add the word counts of README.md and b.txt", 10),
    ("count the words of README.md and b.txt and add them", 10),
    ("count the words of README.md, count the words of b.txt, and add them up", 10),
    ("compare the word counts of README.md and b.txt", 4),
    ("which is longer, README.md or b.txt?", 4),
    ("Which has more words, b.txt or README.md?", -4),
    ("Compare README.md with b.txt", 4),
    ("list all md files in docs", ["docs/solar.md", "docs/x.md", "docs/y.md"]),
    ("List docs/*.md", ["docs/solar.md", "docs/x.md", "docs/y.md"]),
    ("what files are in docs?", ["docs/solar.md", "docs/x.md", "docs/y.md", "docs/z.txt"]),
    ("list the md files in docs and count the words of each", [10, 3, 5]),
    ("list the files in docs, count the words of each, and add them up", 19),
    ("count the words of each md file in docs and average them", 6),
    ("for each md file in docs, count the words", [10, 3, 5]),
    ("read b.txt", "alpha beta gamma\n"),
    ("What's in b.txt?", "alpha beta gamma\n"),
    ("show me the contents of b.txt", "alpha beta gamma\n"),
    ("read a.txt and summarise it in 1 sentence", "Solar power uses the light of the sun."),
    ("Please summarize a.txt in two sentences.",
     "Solar power uses the light of the sun. Power from the sun is clean power."),
    ("1. Read a.txt\n2. Summarise it in one sentence", "Solar power uses the light of the sun."),
    ("count the words of b.txt. If it is more than 2, multiply it by 10", 30),
    ("I'd like to know how many words are in README.md.", 7),
    ("divide the number of words in README.md by the number of words in b.txt", 7 / 3),
    ("subtract the word count of b.txt from the word count of README.md", 4),
    ("What is the total number of words in README.md and b.txt?", 10),
    ("for each md file in docs, count the words and multiply it by 2", [20, 6, 10]),
    ("if the word count of b.txt is more than 2, read b.txt", "alpha beta gamma\n"),
    ("give me a one sentence summary of a.txt", "Solar power uses the light of the sun."),
    ("b.txt有几个字", 3),
    ("统计README.md的字数", 7),
    ("README.md有多少个字？", 7),
    ("统计README.md的字数，然后乘以2", 14),
    ("统计README.md和b.txt的字数，求它们的差", 4),
    ("比较README.md和b.txt的字数", 4),
    ("README.md和b.txt哪个更长？", 4),
    ("先统计README.md的字数，再统计b.txt的字数，最后把它们相加", 10),
    ("列出docs里的所有md文件，统计每个文件的字数，然后求和", 18),
    ("统计docs文件夹里每个md文件的字数，求平均值", 6),
    ("读取b.txt", "alpha beta gamma\n"),
    ("用一句话总结报告.txt", "太阳能板用太阳的光发电。"),
    ("统计b.txt的字数，如果大于2就乘以10", 30),
]  # fmt: skip
WRITTEN: list[tuple[str, str, str]] = [
    ("Make a copy of b.txt called c.txt", "c.txt", "alpha beta gamma\n"),
    ("count the words of README.md, then multiply it by 2 and write it to result.txt", "result.txt", "14\n"),
    ("Compute (15 - 3) / 4 and save the answer in answer.txt", "answer.txt", "3\n"),
    ("write the sum of 3 and 5 to x.txt", "x.txt", "8\n"),
    ("write 'hello and then bye' to x.txt", "x.txt", "hello and then bye"),
    ('Save "buy milk, then eggs" to todo.txt', "todo.txt", "buy milk, then eggs"),
    ("create a file x.txt with the text 'hi'", "x.txt", "hi"),
    ("write hello to x.txt", "x.txt", "hello"),
    ("put the contents of b.txt into c.txt", "c.txt", "alpha beta gamma\n"),
    ("Read b.txt. Then read report.txt. Then write both to c.txt.", "c.txt", "alpha beta gamma\n\nall is well\n\n"),
    ("write the number of words of README.md to n.txt", "n.txt", "7\n"),
    ("write the summary of b.txt to s.txt", "s.txt", "alpha beta gamma"),
    ("count the words of each md file in docs, then write the sum to total.txt", "total.txt", "18\n"),
    ("copy report.txt to backup/", "backup/report.txt", "all is well\n"),
    ("Back up report.txt to old/report.bak", "old/report.bak", "all is well\n"),
    ("copy each md file in docs to backup/", "backup/y.md", "four five six seven eight\n"),
    ("copy report.txt into the backup folder", "backup/report.txt", "all is well\n"),
    ("统计README.md的字数，然后乘以2，再写入result.txt", "result.txt", "14\n"),
    ("计算3加5，把结果写入r.txt", "r.txt", "8\n"),
    ("把“你好，然后再见”写入hi.txt", "hi.txt", "你好，然后再见"),
    ("将report.txt复制到backup目录", "backup/report.txt", "all is well\n"),
    ("读取b.txt，总结成两句话，写到s.txt", "s.txt", "alpha beta gamma"),
]  # fmt: skip
REFUSED = [
    "summarise the first 3 files in docs", "read the second file in docs", "如果a.txt的字数大于100，就总结它",
    "summarise 3", "How many files are in docs?", "copy a.txt to b.txt and b.txt to c.txt",
    "tell me a joke", "delete a.txt", "rename a.txt to b.txt", "count the lines of a.txt", "append 'x' to a.txt",
    "read a.txt backwards", "don't count the words of a.txt", "count the words of a.txt but not the numbers",
    "count the words of a.txt twice", "write it to x.txt", "translate a.txt", "copy a.txt", "write 'x'", "search",
    "count the words of each", "what is the capital of France", "read a.txt unless it is long", "mail a.txt",
    "send an email to bob", "copy all files in docs to x.txt", "write the words of a.txt to b.txt",
    "Write 'a' to a.txt and 'b' to b.txt", "讲个笑话", "删除a.txt", "统计a.txt的行数", "今天天气怎么样",
    "把结果写入x.txt", "",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def outputs(task: str, root: Path) -> dict[str, Any]:
    draft = planned(task)
    assert not draft.impossible, draft.impossible
    assert not findings(draft, built_in(root))
    return carried_out(draft, built_in(root))


@pytest.mark.parametrize(("task", "expected"), LAST)
def test_a_request_has_its_value(task: str, expected: Any, root: Path) -> None:
    assert list(outputs(task, root).values())[-1] == expected


@pytest.mark.parametrize(("task", "name", "text"), WRITTEN)
def test_a_request_writes_its_file(task: str, name: str, text: str, root: Path) -> None:
    outputs(task, root)
    assert (root / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("task", REFUSED)
def test_what_is_not_understood_is_refused(task: str) -> None:
    assert lines(planned(task)) == ["refused"]


@pytest.mark.parametrize(
    ("task", "archive", "names"),
    [
        ("compress a.txt and b.txt into c.zip", "c.zip", ["a.txt", "b.txt"]),
        ("zip all txt files in docs into t.zip", "t.zip", ["docs/z.txt"]),
        ("Zip the docs folder into d.zip", "d.zip", ["docs/solar.md", "docs/x.md", "docs/y.md", "docs/z.txt"]),
        ("copy each md file in docs to bak/, then compress them into b.zip", "b.zip",
         ["bak/solar.md", "bak/x.md", "bak/y.md"]),
        ("压缩a.txt和b.txt为c.zip", "c.zip", ["a.txt", "b.txt"]),
        ("把docs里的所有txt文件压缩成t.zip", "t.zip", ["docs/z.txt"]),
    ],
)  # fmt: skip
def test_a_request_packs_its_files(task: str, archive: str, names: list[str], root: Path) -> None:
    outputs(task, root)
    assert sorted(zipfile.ZipFile(root / archive).namelist()) == names


def test_a_search_finds_and_its_passages_are_summarised(root: Path) -> None:
    found = outputs("search the documents for solar panels and summarise it in 1 sentence", root)
    assert found["s1"][0]["path"] == "docs/solar.md"
    assert found["s2"][0] == "Solar panels make power from the light of the sun."


@pytest.mark.parametrize(
    ("task", "args"),
    [
        ("email bob@example.com 'hello'", {"to": "bob@example.com", "body": "hello"}),
        ('Send an email to bob@example.com saying "See you then"', {"to": "bob@example.com", "body": "See you then"}),
        ("email bob@example.com and ann@example.com the file report.txt",
         {"to": ["bob@example.com", "ann@example.com"], "attachments": ["report.txt"], "subject": "report.txt"}),
        ("mail report.txt to bob@example.com with subject 'Here' and body 'As asked'",
         {"to": "bob@example.com", "attachments": ["report.txt"], "subject": "Here", "body": "As asked"}),
        ("Email jane@x.com the result of 12 * 12", {"to": "jane@x.com", "body": "${steps.s1}\n"}),
        ("Mail the contents of a.txt to jane@x.com", {"to": "jane@x.com", "body": "${steps.s1}", "attachments": None}),
        ("send the number of words in a.txt to bob@x.com", {"to": "bob@x.com", "body": "${steps.s1}\n"}),
        ("给bob@x.com发一封邮件，主题是“hi”，正文是“x”，附上a.txt",
         {"to": "bob@x.com", "subject": "hi", "body": "x", "attachments": ["a.txt"]}),
    ],
)  # fmt: skip
def test_a_mail_has_its_parts(task: str, args: dict[str, Any]) -> None:
    draft = planned(task)
    assert not draft.impossible, draft.impossible
    assert draft.steps[-1].tool == "send_mail"
    assert {name: draft.steps[-1].args.get(name) for name in args} == args


@pytest.mark.parametrize(
    "task",
    [
        "Copy report.txt into backup/, compress it, and mail it to team@example.com",
        "把report.txt复制到backup/，压缩它，然后发给team@example.com",
    ],
)
def test_the_archive_that_is_mailed_comes_from_the_step_before(task: str) -> None:
    copy, pack, mail = planned(task).steps
    assert (copy.tool, pack.tool, mail.tool) == ("copy_file", "compress", "send_mail")
    assert pack.args["paths"] == ["${steps.s1.path}"]
    assert mail.args["attachments"] == ["${steps.s2.path}"]


def test_a_refusal_names_the_part_and_how_to_name_a_model() -> None:
    why = planned("count the words of a.txt, then sing it, and write it to b.txt").impossible or ""
    assert "“sing it”" in why
    assert "offline planner, no language model" in why
    for name in ("LLM_MODEL_ID", "LLM_BASE_URL", "LLM_API_KEY", "--model"):
        assert name in why


def test_a_missing_argument_is_named() -> None:
    assert "'language'" in (planned("translate a.txt").impossible or "")
    assert "'target'" in (planned("copy a.txt").impossible or "")
    assert "'to'" in (planned("mail a.txt to bob").impossible or "")


def test_a_missing_tool_is_named() -> None:
    assert "there is no tool write_file" in (planned("write 'x' to x.txt", tools=[]).impossible or "")


def test_what_failed_is_not_planned_again() -> None:
    failed = [{"id": "s1", "tool": "read_file", "args": {"path": "a.txt"}, "why": "there is no file 'a.txt'"}]
    why = planned("read a.txt", failed=failed).impossible or ""
    assert "there is no file 'a.txt'" in why and "model" not in why  # naming one would not make the file


def test_a_plan_with_findings_is_not_given_again() -> None:
    assert "too many steps" in (planned("read a.txt", findings=["too many steps"]).impossible or "")


def test_constraints_are_kept_or_put_to_the_checker() -> None:
    assert "forbids" in (planned("write 'x' to x.txt", constraints={"words": ["do not write files"]}).impossible or "")
    assert planned("what is 2 + 2", constraints={"words": ["be polite"]}).steps[-1].criteria == ["be polite"]


@pytest.mark.parametrize("sentence", ["never write anything", "don't write any new file", "不要写任何文件"])
def test_a_prohibition_is_kept_in_other_words_too(sentence: str) -> None:
    assert "forbids" in (planned("write 'x' to x.txt", constraints=[sentence]).impossible or "")


@pytest.mark.parametrize("sentence", ["do not write outside the working hours", "never mail my boss"])
def test_a_prohibition_that_is_half_understood_stops_a_write(sentence: str) -> None:
    task = "write 'x' to x.txt and mail it to bob@example.com"
    assert "may forbid" in (planned(task, constraints=[sentence]).impossible or "")
    assert planned("read a.txt", constraints=[sentence]).steps[-1].criteria == [sentence]


ORDER = {"name": "order", "description": "Orders an item.", "effect": "write", "returns": None, "args": {
    "type": "object", "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["item", "count"],
}}  # fmt: skip


@pytest.mark.parametrize("sentence", ["never order more than 3", "at most 3 pens", "buy nothing red", "不要超过3个"])
def test_a_limit_that_is_not_understood_stops_a_write_of_any_tool(sentence: str) -> None:
    task = 'order item "pen" count 5'
    assert [one.tool for one in planned(task, tools=[ORDER]).steps] == ["order"]
    assert [one.tool for one in planned(task, tools=[ORDER], constraints=["be polite"]).steps] == ["order"]
    assert "may forbid" in (planned(task, tools=[ORDER], constraints=[sentence]).impossible or "")


def test_a_constraint_by_a_key_of_the_callers_own_is_not_dropped() -> None:
    keys = {"read_only": True, "forbid": ["send_mail"], "budget": "10 euro"}
    assert planned("what is 2 + 2", constraints=keys).steps[-1].criteria == ["budget = 10 euro"]


@pytest.mark.parametrize(
    ("task", "query"),
    [
        ("查一下上海今天的天气", "上海今天的天气"), ("查找用户协议", "用户协议"), ("查找目的", "目的"),
        ("搜索关于太阳能的文档", "太阳能"), ("搜索文档里关于太阳能的内容", "太阳能的内容"), ("搜索自行车", "自行车"),
    ],
)  # fmt: skip
def test_a_chinese_query_keeps_its_words_whole(task: str, query: str) -> None:
    assert planned(task).steps[0].args == {"query": query}


@pytest.mark.parametrize(
    ("task", "word"),
    [
        ("search for budget in letter.md", "all documents"), ("搜索日记.txt里的公园", "all documents"),
        ("search the web for solar power", "not the web"),
    ],
)  # fmt: skip
def test_where_to_search_is_not_taken_for_words_to_search_for(task: str, word: str) -> None:
    assert word in (planned(task).impossible or "")


def test_how_to_name_a_model_is_said_once() -> None:
    why = "ModelFailed: offline planner, no language model: can't translate. " + HOW_TO_NAME_A_MODEL
    failed = [{"id": "s2", "tool": "translate", "why": why}]
    assert (planned("translate a.txt to German", failed=failed).impossible or "").count("LLM_MODEL_ID") == 1


def test_each_goes_over_a_list_of_the_caller() -> None:
    draft = planned("translate each of the names to French", inputs={"names": ["a", "b"]})
    assert draft.steps[0].each == "${steps.inputs.names}"
    assert draft.steps[0].args == {"text": "${steps.item}", "language": "French"}
