"""Python code in a sandbox: run it, or run tests against it. Both are reads: nothing that they do is left behind.

Leaves out: packages beyond the standard library, and files of the caller; values go in as `inputs`.
"""

import signal
from typing import Any, Literal

from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.sandbox import MOST, Ended, run
from tools.settings import ToolSettings
from tools.tool import Tool, read

SECONDS = 10.0
_TEST_SECONDS, _MOST_TESTS = 5.0, 40
_LATE = "it was not done in time and was ended"


class TooLate(ToolFailed):
    """The same code comes to the same end."""

    may_retry = False


class Ran(TypedDict):
    """What the code printed, and the value of its variable `result` if it set one."""

    printed: str
    result: Any


class Tested(TypedDict):
    """One test; `why` is empty when it passed. failed: an assertion does not hold; error: anything else went wrong."""

    test: str
    outcome: Literal["passed", "failed", "error"]
    why: str


class Tests(TypedDict):
    """What all tests came to."""

    passed: bool
    failures: int
    tests: list[Tested]


def tools(settings: ToolSettings) -> list[Tool]:
    """Running code and running tests."""
    return [
        read(run_python, timeout=SECONDS + 15, probe=_works, one_service=False),
        read(run_tests, timeout=_TEST_SECONDS * _MOST_TESTS + 15, probe=_works, one_service=False),
    ]


async def run_python(code: str, inputs: dict[str, Any] | None = None) -> Ran:
    """Runs Python code (standard library only, no network, no files) and gives what it prints and its variable
    `result`; values from earlier steps go in as inputs and are read as inputs["name"]."""
    ended = (await run(code, inputs or {}, seconds=SECONDS))[0]
    if why := _trouble(ended):
        said = f"; it printed {shorten(ended['out'])!r}" if ended["out"].strip() else ""
        failed = TooLate if _late(ended) else ToolFailed
        raise failed(f"the code failed: {why}{said}", "timeout" if _late(ended) else "invalid_arguments")
    if len(ended["out"].encode()) >= MOST:
        raise ToolFailed(f"the code printed more than {MOST} bytes; print less", "invalid_arguments")
    return {"printed": ended["out"], "result": ended.get("result")}


async def run_tests(code: str, tests: list[str]) -> Tests:
    """Runs each test, a Python statement such as assert add(1, 2) == 3, after the code, and tells which passed."""
    if not 0 < len(tests) <= _MOST_TESTS:
        raise ToolFailed(f"there are {len(tests)} tests; right would be 1 to {_MOST_TESTS}", "invalid_arguments")
    ended = await run(code, {}, tests, seconds=_TEST_SECONDS)
    found = [_judged(test, one) for test, one in zip(tests, ended, strict=True)]
    failures = sum(test["outcome"] != "passed" for test in found)
    return {"passed": not failures, "failures": failures, "tests": found}


def _judged(test: str, ended: Ended) -> Tested:
    why = _trouble(ended) or ("" if ended.get("checked") else "the test did not come to its end")
    asserted = ended.get("ran") and ended.get("error", "").startswith("AssertionError")
    return {"test": test, "outcome": "failed" if asserted else "error" if why else "passed", "why": why}


def _trouble(ended: Ended) -> str:
    """Why it did not come to its end as it should, or an empty text."""
    if _late(ended):
        return _LATE
    if "ran" not in ended and not ended.get("error"):
        return f"it ended with {ended['code']}, before its end"
    return ended.get("error", "")


def _late(ended: Ended) -> bool:
    """Whether its time was over, by the clock or of the processor."""
    return ended["late"] or ended["code"] == -signal.SIGXCPU


async def _works() -> Any:
    await run("", {}, seconds=SECONDS)
