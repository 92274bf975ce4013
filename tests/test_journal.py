"""The journal of writes, in a file and on PostgreSQL: one winner a key, who is still at it, which journal a run has."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import graphs
from state.context import Context
from state.errors import ForethoughtError, InputError, SetupError
from tests.support.plans import by_step, plan, step
from tests.support.scripted_model import ScriptedModel
from tools import journal_postgres, processes
from tools.journal import Journal
from tools.journal_file import FileStorage
from tools.journals import journal_of
from tools.tool import write

ROOT = Path(__file__).parent.parent
THREAD: Any = {"configurable": {"thread_id": "t"}}
BOTH = pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.slow)])
ON_POSTGRES = pytest.mark.parametrize("kind", [pytest.param("postgres", marks=pytest.mark.slow)])


@pytest.fixture
def place(kind: str, home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Sets where the journal lies, as a user would; the address of the database, or an empty text."""
    if kind == "file":
        return ""
    url: str = request.getfixturevalue("postgres").new_database()
    monkeypatch.setenv("FORETHOUGHT_DATABASE", url)
    return url


@pytest.fixture
def journal(place: str) -> Journal:
    return journal_of(Context())


def program(name: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.support.{name}", *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


@BOTH
def test_a_claim_is_won_once_and_kept_with_its_result(journal: Journal) -> None:
    args = {"to": "李", "text": "a\0b ? %s", "n": 1.5}
    assert journal.claim("k", "r", "s", "pay", args) is None
    before = journal.claim("k", "r", "again", "pay", {})
    assert before and (before["step"], before["state"], before["args"]) == ("s", "intent", args)
    journal.finish("k", {"paid": 7})
    entry = journal.entry("k")
    assert entry and (entry["state"], entry["output"]) == ("done", {"paid": 7})
    journal.release("k")
    journal.claim("k2", "r", "t", "pay", {})
    assert [entry["key"] for entry in journal.entries("r")] == ["k", "k2"]


@BOTH
def test_a_claim_that_was_taken_up_by_another_is_not_released_by_who_looked_at_the_old_one(journal: Journal) -> None:
    journal.claim("k", "r", "s", "pay", {})
    old = journal.entry("k")
    assert old
    journal.release("k", old["claimed"])
    journal.claim("k", "r", "s", "pay", {})
    journal.release("k", old["claimed"] - 1)
    assert journal.entry("k")
    journal.release("k")
    assert journal.entry("k") is None


@BOTH
def test_a_claim_that_was_given_up_is_nobodys(journal: Journal) -> None:
    journal.claim("k", "r", "s", "pay", {})
    entry = journal.entry("k")
    assert entry and journal.is_running(entry, 5.0)
    journal.give_up("k")
    entry = journal.entry("k")
    assert entry and not journal.is_running(entry, 5.0)


@pytest.mark.slow
@BOTH
def test_the_claim_of_a_process_of_this_machine_is_running_until_it_is_killed(journal: Journal) -> None:
    other = program("claimer", "k")
    assert other.stdout and other.stdout.readline() == "claimed\n"
    entry = journal.entry("k")
    assert entry and journal.is_running(entry, 5.0) and journal.is_running(entry, 0.0)
    other.kill()
    other.communicate()
    assert _ends(journal, entry, 5.0)


@ON_POSTGRES
def test_from_another_machine_a_killed_owner_is_gone_when_its_time_out_is_over(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = program("claimer", "k")
    assert other.stdout and other.stdout.readline() == "claimed\n"
    monkeypatch.setattr(journal_postgres, "runs_here", lambda owner: None)
    entry = journal.entry("k")
    assert entry and journal.is_running(entry, 0.0)  # it holds its lock
    other.kill()
    other.communicate()
    assert _ends(journal, entry, 0.0)
    assert journal.is_running(entry, 600.0)  # its session may only have been cut


def _ends(journal: Journal, entry: Any, longest: float) -> bool:
    """Whether the owner is seen to have ended, once the server has noticed."""
    return any(not journal.is_running(entry, longest) for _ in range(100_000))


@pytest.mark.slow
@BOTH
@pytest.mark.timeout(120)
def test_two_processes_that_race_for_200_keys_have_exactly_200_effects(place: str, tmp_path: Path) -> None:
    effects = tmp_path / "effects.db"
    with closing(sqlite3.connect(effects)) as db:
        db.execute("CREATE TABLE paid (invoice INTEGER)")
        racers = [program("racer", str(effects)) for _ in range(2)]
        for racer in racers:
            assert racer.stdout and racer.stdout.readline() == "ready\n"
        for racer in racers:
            assert racer.stdin
            racer.stdin.write("go\n")
            racer.stdin.flush()
        said = [json.loads(racer.communicate(timeout=110)[0]) for racer in racers]
        assert said == [{"reason": "done", "parts": 200}] * 2
        assert db.execute("SELECT count(*), count(DISTINCT invoice) FROM paid").fetchone() == (200, 200)


@pytest.mark.slow
def test_a_server_that_was_started_again_is_found_again(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_DATABASE", postgres.new_database())
    journal = journal_of(Context())
    journal.claim("k", "r", "s", "pay", {})
    postgres.stop()
    with pytest.raises(SetupError, match=r"the journal of writes at postgresql://127.0.0.1:\d+/test_\w+ can't be used"):
        journal.entry("k")
    postgres.start()
    entry = journal.entry("k")
    assert entry and journal.is_running(entry, 0.0)


@pytest.mark.slow
def test_a_fork_of_the_process_has_a_session_and_a_name_of_its_own(
    postgres: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = (
        "import os\nfrom state.context import Context\nfrom tools.journals import journal_of\n"
        "j = journal_of(Context())\nj.claim('parent', 'r', 's', 'pay', {})\npid = os.fork()\n"
        "if not pid:\n    j.claim('child', 'r', 's', 'pay', {})\n    raise SystemExit\n"
        "os.waitpid(pid, 0)\nprint([j.is_running(e, 5.0) for e in j.entries('r')])\n"
    )
    monkeypatch.setenv("FORETHOUGHT_DATABASE", postgres.new_database())
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[True, False]\n", "")


class Ledger:
    """Pays, and remembers every payment."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> int:
        """Pays."""
        self.paid.append(amount)
        return amount


async def report_of(model: ScriptedModel, tool: Any, *amounts: int) -> dict[str, Any]:
    """The report of a request of its own that makes these writes."""
    model.reply(plan(*[step(f"s{n}", "pay", {"amount": amount}) for n, amount in enumerate(amounts)]))
    context = {"model": model, "tools": [tool], "writes": "allow"}
    return dict((await graphs.load("one_shot").ainvoke({"task": "pay"}, context=context))["report"])


@BOTH
async def test_a_write_that_stands_twice_in_a_plan_runs_twice(place: str, scripted_model: ScriptedModel) -> None:
    ledger = Ledger()
    report = await report_of(scripted_model, write(ledger.pay), 1, 2, 1)
    assert (report["stop"]["reason"], ledger.paid) == ("done", [1, 2, 1])


@BOTH
async def test_the_request_of_next_month_is_another_and_runs_again(place: str, scripted_model: ScriptedModel) -> None:
    ledger = Ledger()
    for _ in range(2):
        await report_of(scripted_model, write(ledger.pay), 7)
    assert ledger.paid == [7, 7]


@BOTH
async def test_a_business_key_holds_across_requests(place: str, scripted_model: ScriptedModel) -> None:
    ledger = Ledger()
    tool = write(ledger.pay, business_key=lambda args: f"invoice {args['amount']}")
    await report_of(scripted_model, tool, 7)
    again = await report_of(scripted_model, tool, 7, 8)
    assert ledger.paid == [7, 8]
    assert by_step(again)["s0"]["note"] == "already done in step 's0'; not repeated"


@BOTH
async def test_a_fork_of_a_finished_run_writes_only_what_differs(place: str, scripted_model: ScriptedModel) -> None:
    ledger = Ledger()
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(ledger.pay)], "writes": "allow"}
    scripted_model.reply(plan(step("a", "pay", {"amount": 1}), step("b", "pay", {"amount": 2})))
    await graph.ainvoke({"task": "pay"}, THREAD, context=context)
    states = [state async for state in graph.aget_state_history(THREAD)]
    before = next(state for state in reversed(states) if state.values.get("request"))
    scripted_model.reply(plan(step("x", "pay", {"amount": 1}), step("y", "pay", {"amount": 3})))
    report = (await graph.ainvoke(None, before.config, context=context))["report"]
    assert (report["stop"]["reason"], ledger.paid) == ("done", [1, 2, 3])


PASSWORD = "s3cret%2Fword"
WRONG = [
    f"postgresql:/u:{PASSWORD}@127.0.0.1/db",
    f"postgresql://u:{PASSWORD}%zz@127.0.0.1/db",
    f"postgresql://u:{PASSWORD} x@127.0.0.1/db",
    f"mysql://u:{PASSWORD}@127.0.0.1/db",
    f"host=127.0.0.1 password={PASSWORD}",
    "s3cret",
]


@pytest.mark.parametrize("url", WRONG)
async def test_an_address_that_is_none_is_refused_at_once_and_not_shown(
    scripted_model: ScriptedModel, home: Path, url: str
) -> None:
    with pytest.raises(InputError, match="right would be postgresql://user:password@host:port/name") as raised:
        await graphs.load("one_shot").ainvoke({"task": "x"}, context={"model": scripted_model, "database": url})
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__context__ is None


def pay(amount: int) -> dict[str, int]:
    """Pays."""
    return {"paid": amount}


async def test_a_database_that_is_down_makes_no_write_and_shows_no_password(
    scripted_model: ScriptedModel, home: Path
) -> None:
    url = f"postgresql://u:{PASSWORD}@127.0.0.1:1/db"
    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    record = home / "record.jsonl"
    context = {
        "model": scripted_model,
        "tools": [write(pay)],
        "writes": "allow",
        "database": url,
        "record": str(record),
    }
    saver = InMemorySaver()
    out = await graphs.load("one_shot", checkpointer=saver).ainvoke({"task": "pay"}, THREAD, context=context)
    found = by_step(out["report"])["a"]["failure"]
    assert found["cls"] == "transient"
    assert "no write without a journal (the journal of writes at postgresql://127.0.0.1:1/db" in found["message"]
    kept = repr([saver.storage, saver.writes, saver.blobs]) + record.read_text(encoding="utf-8")
    assert "s3cret" not in json.dumps(out["report"]) + kept


@pytest.mark.slow
def test_a_wrong_password_is_an_error_without_it(postgres: Any) -> None:
    url = postgres.new_database().replace(postgres.password, PASSWORD)
    with pytest.raises(ForethoughtError, match="password authentication failed") as raised:
        journal_of(Context(database=url)).entry("k")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(("began", "now"), [(None, "a"), ("a", None), ("a", "b")])
async def test_a_resume_with_another_journal_is_refused(
    scripted_model: ScriptedModel, home: Path, began: str | None, now: str | None
) -> None:
    def settings(name: str | None) -> dict[str, Any]:
        where = {"database": f"postgresql://u:s3cret@127.0.0.1:1/{name}"} if name else {}
        return {"model": scripted_model, "tools": [write(pay)], **where}

    scripted_model.reply(plan(step("a", "pay", {"amount": 7})))
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=settings(began))
    assert out["report"]["stop"]["kind"] == "pause"
    answer = Command(resume={one.id: {"decisions": [{"type": "approve"}]} for one in out["__interrupt__"]})
    with pytest.raises(SetupError, match="give it the same") as refused:
        await graph.ainvoke(answer, THREAD, context=settings(now))
    assert str(refused.value).startswith("this request keeps its journal of writes in ")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("moved", [True, False])
async def test_a_resume_with_another_home_writes_only_where_the_journal_was_moved_along(
    scripted_model: ScriptedModel, tmp_path: Path, moved: bool
) -> None:
    ledger = Ledger()
    graph = graphs.load("one_shot", checkpointer=InMemorySaver())
    context = {"model": scripted_model, "tools": [write(ledger.pay)], "home": str(tmp_path / "a")}
    scripted_model.reply(plan(step("s", "pay", {"amount": 7})))
    out = await graph.ainvoke({"task": "pay"}, THREAD, context=context)
    journal_of(Context(home=str(tmp_path / "a"))).claim("another", "request", "s", "pay", {})
    if moved:
        (tmp_path / "a").rename(tmp_path / "b")
    answer = Command(resume={one.id: "approve" for one in out["__interrupt__"]})
    out = await graph.ainvoke(answer, THREAD, context={**context, "home": str(tmp_path / "b")})
    assert ledger.paid == ([7] if moved else [])
    if not moved:
        found = by_step(out["report"])["s"]["failure"]["message"]
        assert f"keeps its journal of writes in {tmp_path}/a, and this call has the home {tmp_path}/b" in found


def test_the_number_of_an_ended_process_that_another_has_got_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = processes.this_process()
    monkeypatch.setattr(processes, "_SELF", "another start")
    assert processes.runs_here(before) is False
    assert processes.runs_here(before.replace(f"/{os.getpid()}/", "/1/")) is True
    assert processes.runs_here("elsewhere:1/1/x") is None


def test_a_journal_whose_disk_was_full_is_used_again_when_there_is_room(tmp_path: Path) -> None:
    journal, (soft, hard) = Journal(FileStorage(str(tmp_path / "journal.db"))), getrlimit(RLIMIT_FSIZE)
    journal.begin("r")
    try:
        setrlimit(RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(SetupError, match="can't be used"):
            journal.claim("k", "r", "s1", "pay", {})
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))
    assert journal.claim("k", "r", "s1", "pay", {}) is None
    journal.finish("k", "paid")
