"""The matrix of docs/faults.md, cell by cell: a process killed at each point of a write, and each way on from there."""

import json
import multiprocessing
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support import worker
from tests.support.mail_server import MailServer
from tests.support.plans import plan, step
from tests.support.worker import WRITES, Leg

PAGE = (Path(__file__).parent.parent / "docs" / "faults.md").read_text(encoding="utf-8")
EFFECTS = ["row", "mail", "POST"]
POINTS = ["before intent", "after intent", "after effect", "after result", "before checkpoint"]
WAYS = ["retry", "replan", "resume", "fork", "two workers", "journal on PostgreSQL", "disk full"]


def table(head: str) -> list[list[str]]:
    """The rows of the table of the page that begins so, without head and dashes."""
    lines = re.search(rf"^\| {head} \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    assert lines, f"there is no table that begins with {head!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()[2:]]


CELLS = [
    (effect, point, way, cell)
    for effect, point, *cells in table(r"effect \| killed")
    for way, cell in zip(WAYS, cells, strict=True)
]


def test_the_matrix_has_every_effect_with_every_point_and_every_way() -> None:
    assert [row[:2] for row in table(r"effect \| killed")] == [
        [effect, point] for effect in EFFECTS for point in POINTS
    ]
    assert " | ".join(["| effect | killed", *WAYS]) + " |\n" in PAGE
    assert {cell for *_, cell in CELLS} <= {*re.findall(r"^- \*\*(.+?)\*\*:", PAGE, re.MULTILINE), "—"}


def test_every_empty_cell_has_a_reason_and_every_reason_an_empty_cell() -> None:
    given = {(point, way) for point, way, reason in table(r"killed \| way") if len(reason) > 30}
    assert given == {(point, way) for _, point, way, cell in CELLS if cell == "—"}
    assert all((point, way) not in given for _, point, way, cell in CELLS if cell != "—")


@dataclass
class Ends:
    """The real ends of the writes, and how many effects each has had under one name."""

    addresses: dict[str, str]
    count: Callable[[str, str], int]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ends]:
    """A database, a mail server and a service."""
    rows, posted, mails = tmp_path_factory.mktemp("ends") / "rows.db", list[str](), MailServer()
    with closing(sqlite3.connect(rows)) as db:
        db.execute("CREATE TABLE effects (name TEXT)")

    def service(request: Request) -> Response:
        if request.method == "POST":
            posted.append(request.get_json())
        return Response(json.dumps(posted), content_type="application/json")

    def count(effect: str, name: str) -> int:
        if effect == "row":
            with closing(sqlite3.connect(rows)) as db:
                return int(db.execute("SELECT count(*) FROM effects WHERE name=?", (name,)).fetchone()[0])
        names = [mail.message["Subject"] for mail in mails.messages] if effect == "mail" else posted
        return names.count(name)

    mails.start()
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        server.expect_request("/effects").respond_with_handler(service)
        addresses = {"row": str(rows), "mail": mails.url, "POST": server.url_for("/effects")}
        yield Ends(addresses, count)
    mails.stop()


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Makes processes that have everything loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", worker.__name__, "psycopg"])
    return context


def legs_ended(processes: ForkServerContext, *legs: Leg) -> list[int | None]:
    """Runs legs side by side; how each process ended."""
    running: list[Any] = [processes.Process(target=worker.work, args=(leg,)) for leg in legs]
    for one in running:
        one.start()
    for one in running:
        one.join(45)
    return [one.exitcode for one in running]


def plans(way: str, tool: str, args: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """What the model says in the first process, and in those that go on; to be planned anew, a later step must fail."""
    before, the_write = step("a", "look", {"name": "a"}), step("w", tool, args, after=["a"])
    if way != "replan":
        return [plan(before, the_write)], []
    again = plan(step("w2", tool, args), step("z2", "look", {"name": "z"}, after=["w2"]))
    return [plan(before, the_write, step("z", "look", {"name": "bad"}, after=["w"]))], [again, "the answer"]


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "point", "way", "cell"), [one for one in CELLS if one[3] != "—"])
def test_a_write_broken_off_at_a_point_happens_once_or_a_person_is_asked(
    effect: str, point: str, way: str, cell: str, ends: Ends, processes: ForkServerContext, tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    on_postgres = way == "journal on PostgreSQL"
    database = request.getfixturevalue("postgres").new_database() if on_postgres else None
    name = f"{effect} {point} {way}"
    tool, args = WRITES[effect][0], WRITES[effect][1](name)
    first, later = plans(way, tool, args)

    def leg(do: Any, **more: Any) -> Leg:
        pattern = "plan_and_execute" if way == "replan" else "one_shot"
        replies = first if do == "start" else later
        return Leg(str(tmp_path), do, pattern, effect, ends.addresses[effect], replies, database=database, **more)

    def run(do: Any, **more: Any) -> dict[str, Any]:
        assert legs_ended(processes, leg(do, **more)) == [0]
        return dict(json.loads((tmp_path / "report.json").read_text()))

    if way == "retry":
        report = run("start", point=point, fault="tool fails")
    elif way == "disk full":
        assert legs_ended(processes, leg("start", point=point, fault="disk full")) == [1]
        report = run("resume")
    else:
        assert legs_ended(processes, leg("start", point=point)) == [-signal.SIGKILL]
        assert ends.count(effect, name) == (POINTS.index(point) >= POINTS.index("after effect"))
        if way in ("two workers", "journal on PostgreSQL"):
            together = processes.Barrier(2)
            both = [leg("resume", together=together, out=f"report{n}.json") for n in range(2)]
            assert legs_ended(processes, *both) == [0, 0]
            reports = [json.loads((tmp_path / one.out).read_text()) for one in both]
            assert len({one["stop"]["reason"] for one in reports}) == 1
            report = reports[0]
        else:
            report = run("fork" if way == "fork" else "resume")
    asked = report["stop"]["reason"] == "pending_reconcile"
    if asked:
        assert ends.count(effect, name) <= 1
        report = run("approve" if ends.count(effect, name) else "reject")
    assert (report["stop"]["reason"], ends.count(effect, name)) == ("done", 1)
    assert ("asked" if asked else "once") == cell


@pytest.mark.slow
def test_two_who_say_at_once_that_it_did_not_happen_make_one_effect(
    ends: Ends, processes: ForkServerContext, tmp_path: Path
) -> None:
    name = "two answers"
    made = [plan(step("w", "send_mail", WRITES["mail"][1](name)))]

    def leg(do: Any, **more: Any) -> Leg:
        replies = made if do == "start" else []
        return Leg(str(tmp_path), do, "one_shot", "mail", ends.addresses["mail"], replies, **more)

    assert legs_ended(processes, leg("start", point="after intent")) == [-signal.SIGKILL]
    assert legs_ended(processes, leg("resume")) == [0]
    together = processes.Barrier(2)
    both = [leg("reject", together=together, out=f"report{n}.json") for n in range(2)]
    assert legs_ended(processes, *both) == [0, 0]
    assert ends.count("mail", name) == 1
