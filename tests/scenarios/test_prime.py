"""S10: a function that tells primes: draft, critique on complexity, a better version, stop. Its tests really run."""

from typing import Any

import pytest

from graphs import load
from state.errors import ToolFailed
from tests.support.model_server import ModelServer
from tests.support.runs import critique, drafted, refined, results, roles
from tools import sandbox

TASK = "Write a Python function is_prime(n) that tells whether a whole number is a prime."
TESTS = ["assert is_prime(2)", "assert not is_prime(1)", "assert not is_prime(91)", "assert is_prime(7919)"]
WRONG = "```python\ndef is_prime(n):\n    return all(n % d for d in range(2, n))\n```"
SLOW = "```python\ndef is_prime(n):\n    return n > 1 and all(n % d for d in range(2, n))\n```"
FAST = "```python\ndef is_prime(n):\n    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))\n```"
COSTLY = "complexity: it tries every number below n; up to the square root is enough"
pytestmark = [pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
async def walls() -> None:
    try:
        await sandbox.run("", {}, seconds=5)
    except ToolFailed as why:
        pytest.skip(f"no code is run on this machine: {why}")


def marks(complexity: int) -> dict[str, int]:
    return {"correctness": 9, "complexity": complexity}


def run(**more: Any) -> dict[str, Any]:
    context = {"tests": TESTS, "dimensions": ["correctness", "complexity"], **more}
    return load("reflection", context=context).invoke({"task": TASK})["report"]


@pytest.mark.parametrize("pattern", ["reflection"])
def test_a_slow_function_is_criticised_for_its_complexity_and_a_better_one_ends_it(
    pattern: str, model_server: ModelServer
) -> None:
    model_server.reply(
        drafted(SLOW), critique(COSTLY, scores=marks(4)), refined(FAST, f1="fixed: up to the root"),
        critique(scores=marks(9)),
    )  # fmt: skip
    report = run()
    assert (report["pattern"], report["stop"]["reason"], report["answer"]) == (pattern, "done", FAST)
    assert {name: one["output"]["passed"] for name, one in results(report).items()} == {"tests1": True, "tests2": True}
    assert report["verdict"]["scores"] == marks(9)
    assert [check["outcome"] for check in report["verdict"]["checks"]] == ["passed"] * 4
    assert report["usage"]["model_calls"] == 4 and report["usage"]["tool_calls"] == 2


def test_a_test_that_fails_is_evidence_for_the_refiner_and_no_critic_is_asked(model_server: ModelServer) -> None:
    model_server.reply(drafted(WRONG), refined(SLOW, f1="fixed: 1 is no prime"), critique(scores=marks(9)))
    report = run()
    assert report["stop"]["reason"] == "done"
    [found] = report["drafts"][0]["findings"]
    assert found["by"] == "code" and found["text"].startswith("assert not is_prime(1) -> failed: AssertionError")
    assert roles(model_server.requests) == ["drafter", "refiner", "critic"]
    assert "assert not is_prime(1)" in model_server.requests[1]["messages"][1]["content"]


def test_a_test_that_fails_again_keeps_its_id_and_a_claim_to_have_mended_it_does_not_hold(
    model_server: ModelServer,
) -> None:
    model_server.reply(
        drafted(WRONG), refined(WRONG.replace("% d for d", "% k for k"), f1="fixed: done"),
        refined(FAST, f1="fixed: really"), critique(scores=marks(9)),
    )  # fmt: skip
    report = run()
    assert report["drafts"][1]["replies"][0]["done"] == "not_fixed"
    assert report["stop"]["reason"] == "done"


def test_a_version_that_breaks_a_test_is_never_the_answer_however_fast(model_server: ModelServer) -> None:
    model_server.reply(
        drafted(SLOW), critique(COSTLY, scores=marks(4)), refined(WRONG, f1="fixed: quick"),
        refined("def is_prime(n): return True", f2="fixed: x"),
    )  # fmt: skip
    report = run()
    assert (report["stop"]["reason"], report["answer"]) == ("reflections", SLOW)
    assert report["verdict"]["scores"] == marks(4)


def test_code_without_an_end_fails_its_tests(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.code._TEST_SECONDS", 0.5)
    endless = "def is_prime(n):\n    while True: pass"
    model_server.reply(drafted(endless), refined(FAST, f1="fixed: x", f2="fixed: x", f3="fixed: x", f4="fixed: x"))
    model_server.reply(critique(scores=marks(9)))
    report = run()
    assert "it was not done in time" in report["drafts"][0]["findings"][0]["text"]


def test_where_tests_may_not_run_the_run_says_so_and_gives_the_draft(model_server: ModelServer) -> None:
    model_server.reply(drafted(FAST))
    report = run(deny=["run_tests"])
    assert (report["stop"]["reason"], report["answer"]) == ("blocked", FAST)
    assert "run_tests" in report["stop"]["message"]
