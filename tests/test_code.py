import asyncio
import os
import platform
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as runs
from hypothesis import strategies as st

from state.errors import ToolFailed
from tools import code, sandbox, seccomp
from tools.catalogue import catalogue
from tools.settings import ToolSettings
from tools.tool import ToolEnv

SLEEP = "import time; time.sleep(600)"
pytestmark = [pytest.mark.timeout(120)]


async def run(name: str, **args: Any) -> Any:
    found = catalogue(["code"], ToolSettings())[name]
    return await found.run(args, ToolEnv())


@pytest.fixture(autouse=True)
async def walls() -> None:
    try:
        await sandbox.run("", {}, seconds=5)
    except ToolFailed as why:
        pytest.skip(f"no code is run on this machine: {why}")


async def refused(text: str, **inputs: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await run("run_python", code=text, inputs=inputs)
    return caught.value


async def test_what_the_code_prints_and_its_result_are_given() -> None:
    text = "print('sum:'); result = {'sum': sum(inputs['numbers'])}"
    assert await run("run_python", code=text, inputs={"numbers": [1, 2, 3.5]}) == {
        "printed": "sum:\n",
        "result": {"sum": 6.5},
    }


@runs(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda part: st.lists(part)))
async def test_a_value_that_goes_in_comes_out_the_same(value: Any) -> None:
    assert (await run("run_python", code="result = inputs['value']", inputs={"value": value}))["result"] == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("x = 1\nif", "SyntaxError: invalid syntax (line 2)"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import os; os._exit(0)", "it ended with 0, before its end"),
        ("result = {1, 2}", "result can't be given on as JSON"),
        ("import numpy", "No module named 'numpy'"),
        ("print('x' * 150_000)", "printed more than 100000 bytes"),
        ("result = 'x' * 150_000", "its result has more than 100000 bytes"),
        ("import json; json.dumps = lambda *a, **k: '[1]'", "the code broke the report of its result"),
        ("import json; json.dumps = lambda *a, **k: '{\"ran\": 1}'", "the code broke the report of its result"),
        ("import json; json.dumps = lambda *a, **k: '[' * 90_000", "or the code broke its report"),
    ],
)
async def test_code_that_fails_is_an_error_that_says_what_and_where(text: str, words: str) -> None:
    failed = await refused(text)
    assert words in str(failed)
    assert failed.failure == "invalid_arguments"


async def test_what_was_printed_before_an_error_is_quoted() -> None:
    assert "'half way'" in str(await refused("print('half way'); 1/0"))


async def test_code_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SECONDS", 1.0)
    for endless in ("while True: pass", "import time; time.sleep(1000)"):
        failed = await refused(endless)
        assert (failed.failure, getattr(failed, "may_retry", True)) == ("timeout", False)  # the same end each time


async def test_no_file_of_the_machine_is_seen(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    for path in ("/etc/passwd", "/etc/shadow", "/proc/1/environ", "../secret.txt", str(tmp_path / "secret.txt")):
        assert "FileNotFoundError" in str(await refused(f"open({path!r})"))
    assert (await run("run_python", code="import os; result = os.listdir('.')"))["result"] == []


async def test_nothing_outside_its_folder_is_changed(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    text = f"import shutil; shutil.rmtree({str(tmp_path)!r}, ignore_errors=True)"
    await run("run_python", code=text)
    assert (tmp_path / "kept.txt").read_text() == "kept"
    for path in ("/x", "/usr/x", "/dev/x", f"{os.path.dirname(os.__file__)}/x.py"):
        assert "Error" in str(await refused(f"open({path!r}, 'w')"))


async def test_files_are_gone_with_the_call() -> None:
    text = "import os; found = os.listdir('.'); open('a.txt', 'w').write('x'); result = [found, os.listdir('.')]"
    for _ in range(2):
        assert (await run("run_python", code=text))["result"] == [[], ["a.txt"]]


async def test_no_network_is_reached(httpserver: Any) -> None:
    text = "import socket; socket.create_connection((inputs['host'], inputs['port']), 2)"
    assert "Error" in str(await refused(text, host="127.0.0.1", port=httpserver.port))
    assert "Error" in str(await refused(text, host="1.1.1.1", port=53))
    assert httpserver.log == []


async def test_no_variable_of_the_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret")
    found = (await run("run_python", code="import os; result = dict(os.environ)"))["result"]
    assert set(found) <= {"PATH", "HOME", "LANG", "OPENBLAS_NUM_THREADS", "PWD"}


async def test_memory_is_limited() -> None:
    assert "MemoryError" in str(await refused("x = bytearray(10**9)"))


@pytest.mark.parametrize(
    "call",
    [
        "os.memfd_create('x')",
        "said(c.shmget(0, 1 << 20, 0o1600))",
        "said(c.unshare(0x10000000))",
        "said(c.syscall(425, 8, 0))",
    ],
    ids=["files in memory", "shared memory", "namespaces", "io_uring"],
)
async def test_memory_that_no_limit_counts_and_namespaces_are_not_to_be_had(call: str) -> None:
    text = (
        "import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\n"
        "def said(code):\n    if code == -1: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n"
    )
    text += call
    assert "Operation not permitted" in str(await refused(text))


async def test_threads_and_programs_run_all_the_same() -> None:
    text = (
        "import subprocess, threading\nfound = []\n"
        "one = threading.Thread(target=lambda: found.append(subprocess.check_output(['/bin/echo', 'hi'], text=True)))\n"
        "one.start(); one.join(); result = found"
    )
    assert (await run("run_python", code=text))["result"] == ["hi\n"]


def test_where_no_filter_is_written_for_the_machine_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    with pytest.raises(ToolFailed, match="not for mips"):
        seccomp.program()


@pytest.mark.parametrize("path", ["/dev/x", "/dev/shm/x", "/x", "/usr/x"])
@pytest.mark.parametrize("root", [True, False])
async def test_files_are_only_made_in_the_folder_that_has_a_size(
    path: str, root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not root:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "Error" in str(await refused(f"open({path!r}, 'w')"))
    assert (await run("run_python", code="print(1, file=open('/dev/null', 'w')); result = 1"))["result"] == 1


async def test_code_that_reaches_for_the_report_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # then the code and what it is run by have the same user
    text = (
        "import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\n"
        "handle = os.pidfd_open(os.getppid())\nresult = [c.syscall(438, handle, 1, 0), ctypes.get_errno()]"
    )
    assert (await run("run_python", code=text))["result"] == [-1, 1]


async def test_no_more_is_taken_than_a_report_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_REPORT", 10_000)
    assert "more than any report has" in str(await refused("print('x' * 20_000)"))


async def test_processes_are_limited() -> None:
    assert "Resource temporarily unavailable" in str(await refused("import os\nwhile True: os.fork()"))


async def test_a_flood_of_output_is_held_back() -> None:
    failed = await refused("import os\nwhile True: os.write(1, b'x' * 10**6)")
    assert "File too large" in str(failed)
    assert len(str(failed)) < 500


async def test_the_disk_it_may_fill_is_limited() -> None:
    text = "for n in range(100): open(f'/box/{n}', 'wb').write(bytes(8 << 20))"
    assert "No space left" in str(await refused(text))


async def test_limits_can_not_be_lifted() -> None:
    text = "import resource as r; r.setrlimit(r.RLIMIT_AS, (-1, -1))"
    assert "not allowed to raise" in str(await refused(text))


async def test_a_child_in_the_background_ends_with_the_call() -> None:
    mark = f"mark{os.getpid()}"
    text = f"import os, sys\nif os.fork() == 0:\n  os.setsid()\n  os.execv(sys.executable, ['{mark}', '-c', {SLEEP!r}])"
    await run("run_python", code=text)
    while mark in commands():  # the time-out of the test is the limit
        await asyncio.sleep(0.01)


async def test_nothing_goes_on_when_the_caller_gives_up() -> None:
    mark = f"mark{os.getpid()}"
    text = f"import os, sys\nos.execv(sys.executable, ['{mark}', '-c', {SLEEP!r}])"
    call = asyncio.create_task(run("run_python", code=text))
    while mark not in commands():
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    while mark in commands():  # the time-out of the test is the limit
        await asyncio.sleep(0.01)


async def test_other_processes_are_neither_seen_nor_killed() -> None:
    await run("run_python", code="import os\ntry: os.kill(1, 9)\nexcept PermissionError: pass")
    assert "Error" in str(await refused(f"import os; os.kill({os.getpid()}, 0)"))


@pytest.mark.parametrize(
    "ends",
    ["import sys; sys.exit(0)", "raise SystemExit", "quit()", "import os; os._exit(0)", "def f(x): raise SystemExit"],
)
async def test_a_test_that_the_code_does_not_let_run_has_not_passed(ends: str) -> None:
    told = await run("run_tests", code=f"def f(x): return 1\n{ends}", tests=["assert f(2) == 4"])
    assert told["failures"] == 1 and told["tests"][0]["outcome"] == "error" and told["tests"][0]["why"]


async def test_the_main_part_of_a_program_does_not_run_before_its_tests() -> None:
    text = "def f(x): return x * 2\nif __name__ == '__main__':\n    import sys; sys.exit(f(1))"
    assert (await run("run_tests", code=text, tests=["assert f(2) == 4"]))["passed"]


async def test_tests_are_told_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_TEST_SECONDS", 1.0)
    text = "def f(x):\n    while x == 9: pass\n    return x + 1"
    tests = ["assert f(1) == 2", "assert f(1) == 3, 'no three'", "assert f(9) == 1", "assert g(1)", "assert f(2) == 3"]
    found = await run("run_tests", code=text, tests=tests)
    assert [test["outcome"] for test in found["tests"]] == ["passed", "failed", "error", "error", "passed"]
    assert (found["passed"], found["failures"]) == (False, 3)
    assert found["tests"][1] == {"test": tests[1], "outcome": "failed", "why": "AssertionError: no three"}
    assert "was not done in time" in found["tests"][2]["why"]
    assert "name 'g' is not defined" in found["tests"][3]["why"]


async def test_one_test_does_not_see_what_another_changed() -> None:
    found = await run("run_tests", code="seen = []", tests=["seen.append(1); assert seen == [1]"] * 2)
    assert found["passed"] is True


async def test_code_that_ends_the_process_passes_no_test() -> None:
    found = await run("run_tests", code="import os; os._exit(0)", tests=["assert 1 == 2"])
    assert [test["outcome"] for test in found["tests"]] == ["error"]


async def test_code_that_prints_a_report_of_its_own_passes_no_test() -> None:
    flood = "import os\nfor n in range(3, 64):\n    try: os.write(n, b'[{}]')\n    except OSError: pass"
    found = await run("run_tests", code=f"{flood}\nassert False", tests=["assert 1 == 2"])
    assert found["passed"] is False


@pytest.mark.parametrize("tests", [[], ["assert True"] * 41])
async def test_no_tests_or_too_many_are_refused(tests: list[str]) -> None:
    with pytest.raises(ToolFailed, match="right would be 1 to 40"):
        await run("run_tests", code="", tests=tests)


async def test_without_walls_nothing_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    monkeypatch.setattr(sandbox, "find_spec", lambda _: None)
    assert "bwrap is not here; install bubblewrap" in str(await refused(f"open({str(tmp_path / 'x')!r}, 'w')"))


async def test_walls_that_can_not_be_built_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: str(broken))
    assert "the sandbox can't be made here: No permissions to create new namespace" in str(await refused("print(1)"))


def commands() -> str:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and "Z" not in (entry / "stat").read_text().split(")")[-1].split()[:1]:
                found.append((entry / "cmdline").read_text().split("\0")[0])
        except OSError:
            continue
    return " ".join(found)
