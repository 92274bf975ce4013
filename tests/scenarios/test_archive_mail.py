"""S5: copy report.txt into backup/, compress, mail to a team; every write needs a person, and runs once."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from graphs import load
from graphs._bridge import Pattern
from tests.support.mail_server import MailServer
from tests.support.model_server import ModelServer
from tests.support.runs import (
    ACTING,
    THREAD,
    TURNING,
    WHOLE_PLANS,
    after_planning,
    all_well,
    called,
    gives_up,
    plan,
    results,
    says,
    statuses,
    step,
)  # fmt: skip
from tests.support.script import Reply

TASK = "Copy report.txt into backup/, compress the copy and mail the archive to the team."
TEAM = ["ann@example.org", "bo@example.org"]
APPROVE = {"decisions": [{"type": "approve"}]}
REJECT = {"decisions": [{"type": "reject", "message": "not today"}]}


def edit(**args: Any) -> dict[str, Any]:
    return {"decisions": [{"type": "edit", "edited_action": {"name": "send_mail", "args": args}}]}


def steps(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Copy, pack, mail, each from what the one before gave; what is more waits for the archive beside the mail."""
    mail = {"to": TEAM, "subject": "Report", "body": "${steps.t2.files} file, ${steps.t2.bytes} bytes"}
    return [
        step("t1", "copy_file", source="report.txt", target="backup/"),
        step("t2", "compress", paths=["${steps.t1.path}"]),
        step("t3", "send_mail", **mail, attachments=["${steps.t2.path}"]),
        *more,
    ]


LOG = step("t4", "write_file", path="log.txt", text="packed ${steps.t2.path}")
SECOND_MAIL = step("t5", "send_mail", to="cy@example.org", subject="Report", body="see ${steps.t2.path}")


@pytest.fixture
def context(root: Path, mail_server: MailServer) -> dict[str, Any]:
    (root / "report.txt").write_text("The report of the month.\n")
    return {"root": str(root), "smtp": mail_server.url, "limits": {"retries": 0, "replans": 0, "attempts": 1}}


@pytest.fixture(params=ACTING)
def pattern(request: pytest.FixtureRequest) -> str:
    return str(request.param)


side_by_side = pytest.mark.parametrize("pattern", WHOLE_PLANS)
"""Several calls at once, which turns never make."""


def told(pattern: str, text: str) -> list[Reply]:
    """What a pattern is told when the last step failed: a reasoner sees it and gives up."""
    if pattern in TURNING:
        return gives_up(pattern, text)
    return [] if pattern == "one_shot" else [says(text)]


@pytest.fixture
def graph(pattern: str, context: dict[str, Any]) -> Pattern:
    return load(pattern, context=context, checkpointer=InMemorySaver())


def asked(state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The open requests by step, as the interrupts carry them."""
    return {one.value["step"]: {"interrupt": one.id, **one.value} for one in state.get("__interrupt__", [])}


def answer(state: dict[str, Any], **decisions: Any) -> Command[Any]:
    """Answers by step, as the map of interrupt ids that LangGraph takes."""
    waiting = asked(state)
    return Command(resume={waiting[name]["interrupt"]: given for name, given in decisions.items()})


def up_to_the_mail(graph: Pattern) -> dict[str, Any]:
    """Copy and archive are approved; what waits for the archive is asked."""
    state = graph.invoke({"task": TASK}, THREAD)
    assert list(asked(state)) == ["t1"]
    state = graph.invoke(answer(state, t1=APPROVE), THREAD)
    assert list(asked(state)) == ["t2"]
    return graph.invoke(answer(state, t2=APPROVE), THREAD)


def test_a_write_waits_for_its_person_and_then_builds_on_what_the_one_before_gave(
    pattern: str, graph: Pattern, root: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "The report was mailed.", *steps(), once=True))
    state = graph.invoke({"task": TASK}, THREAD)
    assert not (root / "backup").exists()
    state = graph.invoke(answer(state, t1=APPROVE), THREAD)
    assert (root / "backup/report.txt").read_text() == "The report of the month.\n"
    assert not list(root.glob("**/*.zip"))
    state = graph.invoke(answer(state, t2=APPROVE), THREAD)
    packed = root / "backup/report.zip"
    assert packed.exists() and mail_server.messages == []
    request = asked(state)["t3"]["action_requests"][0]
    assert request["args"]["attachments"] == ["backup/report.zip"]
    assert request["args"]["body"] == f"1 file, {packed.stat().st_size} bytes"
    report = graph.invoke(answer(state, t3=APPROVE), THREAD)["report"]
    assert report["stop"]["reason"] == "done"
    assert statuses(report) == {"t1": "done", "t2": "done", "t3": "done"}
    (mail,) = mail_server.messages
    assert mail.recipients == TEAM
    (attached,) = mail.message.iter_attachments()
    with zipfile.ZipFile(io.BytesIO(attached.get_content())) as archive:
        assert archive.read("backup/report.txt") == b"The report of the month.\n"
    assert [line.split(" ")[1:3] for line in report["writes"]] == [
        ["copy_file", "done"], ["compress", "done"], ["send_mail", "done"],
    ]  # fmt: skip


def test_the_report_of_a_run_that_waits_says_what_is_asked_and_that_nothing_was_sent(
    pattern: str, graph: Pattern, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*called(pattern, *steps(), turns=1))
    report = graph.invoke({"task": TASK}, THREAD)["report"]
    assert report["stop"]["kind"] == "pause" and report["stop"]["reason"] == "needs_approval"
    later = {} if pattern in TURNING else {"t2": "not_run", "t3": "not_run"}
    assert statuses(report) == {"t1": "waiting", **later}
    (request,) = report["open_requests"]
    assert request["step"] == "t1" and request["action_requests"][0]["name"] == "copy_file"
    assert report["writes"] == [] and mail_server.messages == []


@side_by_side
def test_several_open_writes_are_answered_in_one_call_by_a_map(
    pattern: str, graph: Pattern, root: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(LOG, SECOND_MAIL), once=True))
    state = up_to_the_mail(graph)
    assert sorted(asked(state)) == ["t3", "t4", "t5"]
    report = graph.invoke(answer(state, t3=APPROVE, t4=APPROVE, t5=APPROVE), THREAD)["report"]
    assert report["stop"]["reason"] == "done"
    assert len(mail_server.messages) == 2
    assert (root / "log.txt").read_text() == "packed backup/report.zip"


@side_by_side
def test_several_open_writes_are_answered_over_several_calls_and_keep_their_ids(
    pattern: str, graph: Pattern, root: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(LOG, SECOND_MAIL), once=True))
    state = up_to_the_mail(graph)
    ids = {name: (one["interrupt"], one["id"]) for name, one in asked(state).items()}
    for name in ("t5", "t3"):
        state = graph.invoke(answer(state, **{name: APPROVE}), THREAD)
        assert name not in asked(state)
        assert all(ids[other] == (one["interrupt"], one["id"]) for other, one in asked(state).items())
        assert mail_server.messages == []  # the round goes on when all answers are there
    report = graph.invoke(answer(state, t4=APPROVE), THREAD)["report"]
    assert report["stop"]["reason"] == "done"
    assert len(mail_server.messages) == 2 and (root / "log.txt").exists()


def test_the_mail_arrives_once_however_often_the_thread_is_invoked_again(
    pattern: str, graph: Pattern, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(), once=True))
    state = up_to_the_mail(graph)
    last = answer(state, t3=APPROVE)
    done = graph.invoke(last, THREAD)["report"]
    for again in (None, last, Command(resume=APPROVE)):
        state = graph.invoke(again, THREAD)
        assert state["report"] == done
    assert len(mail_server.messages) == 1


def test_a_fork_from_before_the_mail_takes_its_result_and_does_not_send_again(
    pattern: str, graph: Pattern, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(), once=True), *after_planning(pattern, "Sent.", once=True))
    state = up_to_the_mail(graph)
    graph.invoke(answer(state, t3=APPROVE), THREAD)
    before = next(
        past
        for past in graph.get_state_history(THREAD)
        if past.next == ("execute",) and statuses({"results": past.values["results"].values()}).get("t3") == "waiting"
    )
    report = graph.invoke(None, before.config)["report"]
    assert report["stop"]["reason"] == "done"
    assert "not repeated" in results(report)["t3"]["note"]
    assert len(mail_server.messages) == 1


def test_an_edited_call_runs_with_the_new_arguments_and_only_with_them(
    pattern: str, graph: Pattern, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent to Dan.", *steps(), once=True))
    state = up_to_the_mail(graph)
    changed = edit(to=["dan@example.org"], subject="Edited", body="by hand", attachments=["backup/report.zip"])
    report = graph.invoke(answer(state, t3=changed), THREAD)["report"]
    assert report["stop"]["reason"] == "done"
    (mail,) = mail_server.messages
    assert mail.recipients == ["dan@example.org"] and mail.message["Subject"] == "Edited"
    assert results(report)["t3"]["args"]["to"] == ["dan@example.org"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"to": TEAM, "subject": "no body"}, "missing argument: 'body'"),
        ({"to": TEAM, "subject": "s", "body": "b", "attachments": ["../secret.txt"]}, "'..'"),
        ({"to": "no address", "subject": "s", "body": "b"}, "no mail address"),
    ],
)
def test_an_edited_call_that_can_not_run_is_asked_for_again_and_sends_nothing(
    pattern: str,
    graph: Pattern,
    changed: dict[str, Any],
    told: str,
    model_server: ModelServer,
    mail_server: MailServer,
) -> None:
    model_server.reply(*called(pattern, *steps()))
    state = up_to_the_mail(graph)
    out = graph.invoke(answer(state, t3=edit(**changed)), THREAD)
    assert told in out["__interrupt__"][0].value["problem"]
    assert results(out["report"])["t3"]["status"] == "waiting"
    assert mail_server.messages == []


def test_a_tool_that_was_forbidden_while_its_call_waited_does_not_run_even_if_it_is_approved(
    pattern: str, graph: Pattern, model_server: ModelServer, mail_server: MailServer
) -> None:
    beside = [] if pattern in TURNING else [LOG]
    model_server.reply(*called(pattern, *steps(*beside)), *told(pattern, "The mail was not sent."))
    state = up_to_the_mail(graph)
    denied = {**graph.get_state(THREAD).values["request"]}
    denied["settings"] = {**denied["settings"], "deny": ["send_mail"]}
    config = graph.update_state(THREAD, {"request": denied}, as_node="pause")
    report = graph.invoke(answer(graph.invoke(None, config), **dict.fromkeys(asked(state), APPROVE)), THREAD)["report"]
    assert asked(state) and results(report)["t3"]["failure"]["cls"] == "policy"
    assert mail_server.messages == []


@side_by_side
def test_a_reject_ends_as_rejected_and_the_approved_sibling_has_still_run(
    pattern: str, graph: Pattern, root: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(plan(*steps(LOG)))
    if pattern != "one_shot":
        model_server.reply(says("The log was written, the mail was refused."))
    state = up_to_the_mail(graph)
    report = graph.invoke(answer(state, t3=REJECT, t4=APPROVE), THREAD)["report"]
    assert report["stop"]["reason"] == "rejected" and report["stop"]["message"] == "not today"
    assert statuses(report) == {"t1": "done", "t2": "done", "t3": "failed", "t4": "done"}
    assert (root / "log.txt").exists() and mail_server.messages == []
    assert len(report["plans"]) == 1  # a person's no is not planned around


def test_a_rejected_copy_blocks_what_is_built_on_it(
    pattern: str, graph: Pattern, root: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*called(pattern, *steps(), turns=1))
    if pattern != "one_shot":
        model_server.reply(says("Nothing was done."))
    state = graph.invoke({"task": TASK}, THREAD)
    report = graph.invoke(answer(state, t1=REJECT), THREAD)["report"]
    assert report["stop"]["reason"] == "rejected"
    later = {} if pattern in TURNING else {"t2": "blocked", "t3": "blocked"}
    assert statuses(report) == {"t1": "failed", **later}
    assert [path.name for path in root.iterdir()] == ["report.txt"]


def test_a_run_that_can_not_wait_says_what_to_do_and_writes_nothing(
    pattern: str, context: dict[str, Any], root: Path, model_server: ModelServer
) -> None:
    model_server.reply(*called(pattern, *steps(), turns=1))
    report = load(pattern, context=context).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "needs_approval"
    assert "checkpointer" in report["stop"]["message"] and "writes='allow'" in report["stop"]["message"]
    assert [path.name for path in root.iterdir()] == ["report.txt"]


def test_writes_that_need_no_person_run_in_one_go(
    pattern: str, context: dict[str, Any], model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(), once=True))
    report = load(pattern, context=context | {"writes": "allow"}).invoke({"task": TASK})["report"]
    assert report["stop"]["reason"] == "done" and len(mail_server.messages) == 1


def test_another_graph_object_on_the_same_file_goes_on_where_the_first_one_waited(
    pattern: str, context: dict[str, Any], tmp_path: Path, model_server: ModelServer, mail_server: MailServer
) -> None:
    model_server.reply(*all_well(pattern, "Sent.", *steps(), once=True))
    state: dict[str, Any] = {}
    for given in ({"task": TASK}, "t1", "t2", "t3"):
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            graph = load(pattern, context=context, checkpointer=saver)
            state = graph.invoke(given if isinstance(given, dict) else answer(state, **{given: APPROVE}), THREAD)
    assert state["report"]["stop"]["reason"] == "done"
    assert len(mail_server.messages) == 1
