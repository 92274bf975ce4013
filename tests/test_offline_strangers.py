"""Requests by someone who had not read the offline planner's code: right, or plainly refused, and never wrong."""

from pathlib import Path
from typing import Any

import pytest

import graphs

FILES = {"letter.txt": "one two three four five", "notes/todo.md": "# Todo\nbuy milk and bread\n", "b.txt": "six seven"}
ASKED: list[tuple[str, Any]] = [
    ("what is 12 times 11", 132),
    ("Compute (3 + 4) * 5 - 6.", 29),
    ("take 100, subtract 36 and divide the result by 8", 8),
    ("what's 15 percent of 240?", 36),
    ("how many words are in letter.txt", 5),
    ("count the words in letter.txt and in b.txt and add them", 7),
    ("read b.txt", "six seven"),
    ("count the words of letter.txt, square it, then subtract 5", 20),
    ("copy letter.txt to copy.txt, then count the words of the copy", 5),
    ("write 'a b c' to new.txt and then count its words", 3),
    ("multiply 2.5 by 4; then add 0.5", 10.5),
    ("sum of 1, 2, 3 and 4", 10),
    ("half of 90 plus 5", 50),
    ("the square root of 144", 12),
    ("for each txt file count the words", [2, 5]),
    ("三乘以七再加一", 22),
    ("letter.txt有多少个单词", 5),
    ("计算 8 的平方，然后除以 4", 16),
    ("读取b.txt", "six seven"),
    ("把100减去1，结果乘以2", 198),
    ("book me a flight to Rome", None),
    ("what is the meaning of life", None),
    ("write a poem about rain to poem.txt", None),
    ("count the words of missing.txt", None),
    ("delete letter.txt", None),
]


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "files"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def outcome(task: str, root: Path) -> tuple[str, Any]:
    context = {"root": str(root), "writes": "allow", "model": "offline"}
    report = graphs.load("one_shot").invoke({"task": task}, context=context)["report"]
    outputs = [result["output"] for result in report["results"] if result["status"] == "done"]
    return report["stop"]["reason"], outputs[-1] if outputs else None


@pytest.mark.parametrize(("task", "right"), ASKED, ids=[task for task, _ in ASKED])
def test_a_strangers_request_is_right_or_refused_and_never_wrong(task: str, right: Any, root: Path) -> None:
    reason, value = outcome(task, root)
    if right is None:
        assert reason in ("cannot_be_done", "steps_failed"), (reason, value)
        assert not (root / "poem.txt").exists() and (root / "letter.txt").exists()
    else:
        assert reason == "cannot_be_done" or value == right, (reason, value)


def test_most_of_what_can_be_done_is_done(root: Path) -> None:
    done = [task for task, right in ASKED if right is not None and outcome(task, root)[1] == right]
    asked = [task for task, right in ASKED if right is not None]
    assert len(done) >= 0.7 * len(asked), sorted(set(asked) - set(done))
