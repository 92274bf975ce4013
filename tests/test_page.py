"""The plan page in a real browser on the real server: start, watch, answer; on a phone, by keyboard, in Chinese."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect
from werkzeug import Request, Response

from tests.support.browser import WAIT, Watched, chromium
from tests.support.dev_server import dev_server, newcomer
from tests.support.drawn import a_plan, a_report, a_result, a_step

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
expect.set_options(timeout=WAIT)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all."""
    with dev_server(tmp_path_factory.mktemp("server"), "--n-jobs-per-worker", "4", strangers=True) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all; every test has pages of its own."""
    with chromium() as one:
        yield one


@pytest.fixture
def watched(browser: Browser, server: str) -> Iterator[Watched]:
    """A page that must not complain, and asks nobody but this server."""
    one = Watched(browser)
    yield one
    asked = {url for url in one.requests if not url.startswith((f"{server}/", "data:"))}
    one.close()
    assert not asked


class Held:
    """A page of another server that answers only when it is told to."""

    def __init__(self, loopback: Any, path: str) -> None:
        self.url, self.host = loopback.url_for(path), f"{loopback.host}:{loopback.port}"
        self.asked, self.go_on = threading.Event(), threading.Event()
        loopback.expect_request(path).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.asked.set()
        self.go_on.wait(60)
        return Response("<p>the page that was waited for</p>", content_type="text/html")


def start(page: Page, server: str, task: str, **settings: Any) -> None:
    """Fills in the form and starts a run; settings are those of the form, by name."""
    page.goto(f"{server}/page/#/new")
    page.get_by_label("Task").fill(task)
    pattern = settings.pop("pattern", None)
    if pattern:
        page.get_by_label("Pattern").select_option(pattern)
    page.locator("details.settings > summary").click()
    page.locator("details.rest > summary").click()
    page.locator("details.more > summary").click()
    for name, value in settings.items():
        one = page.locator(f"[data-name='{name}']")
        if one.evaluate("node => node.tagName") == "SELECT":
            one.select_option(label=value)
        else:
            one.fill(value if isinstance(value, str) else json.dumps(value))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/page/#/run/*")


def state(page: Page) -> Locator:
    """How the run stands."""
    return page.locator(".runhead .chip")


def test_a_run_is_started_watched_as_it_goes_and_shows_its_answer(
    watched: Watched, server: str, loopback: Any, tmp_path: Path
) -> None:
    page, held = watched.page, Held(loopback, "/slow")
    steps = [
        {"id": "look", "tool": "fetch_page", "args": {"url": held.url}},
        {"id": "reckon", "tool": "calculator", "args": {"expression": "6 * 7"}},
        {"id": "last", "tool": "calculator", "args": {"expression": "${steps.reckon} + 1"}, "after": ["look"]},
    ]
    plan = {"goal": "a number", "steps": steps}
    start(page, server, "look, then reckon", pattern="workflow", plan=plan, private_hosts=held.host, root=str(tmp_path))
    expect(page.locator("[data-step=look]")).to_contain_text("running")
    expect(page.locator("[data-step=reckon]")).to_contain_text("done")
    expect(page.locator("[data-step=last]")).to_contain_text("waits")
    expect(state(page)).to_have_text("running")
    expect(page.locator("[data-step=look] .facts").last).to_have_text(re.compile(r"\d s$"))  # its time goes on
    held.go_on.set()
    expect(page.locator("[data-step=last]")).to_contain_text("done")
    expect(state(page)).to_have_text("done")
    expect(page.locator(".outcome .answer")).to_have_text("43")
    page.locator("[data-step=look]").click()
    expect(page.locator(".details")).to_contain_text("the page that was waited for")
    page.get_by_role("link", name="Runs").click()
    expect(page.locator(".run", has_text="look, then reckon")).to_contain_text("done")


def test_a_write_that_is_approved_twice_in_a_row_is_made_once(
    watched: Watched, server: str, mail_server: Any, tmp_path: Path
) -> None:
    page = watched.page
    task = 'mail "y" to a@example.org with the subject "x"'
    start(page, server, task, smtp=mail_server.url, root=str(tmp_path))
    expect(state(page)).to_have_text("waits for you")
    card = page.locator("[data-kind=approval]")
    expect(card).to_contain_text("a@example.org")
    assert not mail_server.messages
    card.get_by_role("button", name="Approve").dblclick()
    expect(state(page)).to_have_text("done")
    expect(page.locator(".outcome")).to_contain_text("approved by a person")
    assert [mail.message["subject"] for mail in mail_server.messages] == ["x"]


def test_several_requests_are_answered_one_by_one(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    args = {"path": "${steps.item}.txt", "text": "here"}
    steps = [{"id": "all", "tool": "write_file", "args": args, "each": "${steps.inputs.names}"}]
    plan = {"goal": "files", "steps": steps}
    start(page, server, "write them", pattern="workflow", plan=plan, root=str(tmp_path), Inputs={"names": ["a", "b"]})
    cards = page.locator("[data-kind=approval]")
    expect(cards).to_have_count(2)
    cards.filter(has_text="b.txt").get_by_role("button", name="Reject…").click()
    cards.filter(has_text="b.txt").locator(".answerform").get_by_role("button", name="Reject").click()
    expect(cards).to_have_count(1)
    assert not any(tmp_path.glob("*.txt"))
    cards.get_by_role("button", name="Approve").click()
    expect(state(page)).to_have_text("rejected")
    assert [path.name for path in tmp_path.glob("*.txt")] == ["a.txt"]


def test_a_write_that_was_approved_says_that_it_waits_for_the_other_answer(
    watched: Watched, server: str, tmp_path: Path
) -> None:
    page = watched.page
    start(page, server, "write hello to a.txt, then write good to b.txt", root=str(tmp_path))
    cards = page.locator("[data-kind=approval]")
    expect(cards).to_have_count(2)
    cards.filter(has_text="a.txt").get_by_role("button", name="Approve").click()
    expect(cards).to_have_count(1)
    expect(page.locator("[data-step=s1]")).to_contain_text("answered; goes on when the other requests are answered")
    expect(page.locator("[data-step=s2]")).to_contain_text("asks you")
    page.locator("[data-step=s1]").click()
    expect(page.locator(".details")).to_contain_text("answered; goes on")
    assert not any(tmp_path.glob("*.txt"))
    cards.get_by_role("button", name="Approve").click()
    expect(state(page)).to_have_text("done")
    assert sorted(path.name for path in tmp_path.glob("*.txt")) == ["a.txt", "b.txt"]


def test_who_answers_after_somebody_else_is_told_that_it_was_not_taken(
    browser: Browser, watched: Watched, server: str, tmp_path: Path
) -> None:
    page, late = watched.page, Watched(browser)
    start(page, server, "write hello to a.txt", root=str(tmp_path))
    held: list[Route] = []
    late.page.route("**/threads/*/runs", lambda route: held.append(route))
    late.page.goto(page.url)
    late.page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Reject…").click()
    page.locator(".answerform").get_by_role("button", name="Reject").click()
    expect(state(page)).to_have_text("rejected")
    held[0].continue_()
    said = "Somebody else answered first; your answer was not taken."
    expect(late.page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(state(late.page)).to_have_text("rejected")
    expect(page.get_by_text(said)).to_have_count(0)
    assert not any(tmp_path.glob("*.txt"))
    late.close()


def test_of_two_different_edits_at_the_same_moment_the_later_one_is_told_that_it_was_not_taken(
    browser: Browser, watched: Watched, server: str, tmp_path: Path
) -> None:
    page, late = watched.page, Watched(browser)
    start(page, server, "write hello to a.txt", root=str(tmp_path))
    held: list[Route] = []
    late.page.route("**/threads/*/runs", lambda route: held.append(route))
    late.page.goto(page.url)
    for one, text in ((late.page, "late"), (page, "early")):
        one.get_by_role("button", name="Edit…").click()
        one.locator(".answerform [data-name=text]").fill(text)
        one.get_by_role("button", name="Run it like this").click()
    expect(state(page)).to_have_text("done")
    held[0].continue_()
    said = "Somebody else answered first; your answer was not taken."
    expect(late.page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(page.get_by_text(said)).to_have_count(0)
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "early"
    late.close()


def test_a_large_result_can_be_kept_whole(watched: Watched, server: str, tmp_path: Path) -> None:
    page, whole = watched.page, "".join(f"line {number}\n" for number in range(2_000))
    (tmp_path / "long.txt").write_text(whole, encoding="utf-8")
    start(page, server, "read long.txt", root=str(tmp_path))
    expect(state(page)).to_have_text("done")
    page.locator("[data-step=s1]").click()
    with page.expect_download() as kept:
        page.locator(".details").get_by_role("link", name="Download the whole result").click()
    assert Path(kept.value.path()).read_text(encoding="utf-8").strip() == whole.strip()


def test_tokens_of_a_model_are_told_by_role_and_what_is_not_known_is_not_zero(
    watched: Watched, server: str, model_server: Any, tmp_path: Path
) -> None:
    page = watched.page
    steps = [{"id": "s1", "tool": "translate", "args": {"text": "hello", "language": "German"}}]
    model_server.reply({"goal": "a word", "steps": steps}, "hallo", "hallo")
    start(page, server, "translate", model="scripted", base_url=model_server.url, root=str(tmp_path))
    expect(page.locator(".outcome .answer")).to_have_text("hallo")
    expect(page.locator("[data-step=s1] .facts").last).to_contain_text("tokens")
    page.get_by_role("tab", name="Cost").click()
    rows = page.locator("#panel-cost tbody tr")
    expect(rows.filter(has_text="planner")).to_contain_text("unknown")  # nobody said what the model costs
    expect(rows.filter(has_text="s1")).to_be_visible()


def test_a_run_that_is_not_there_is_said(browser: Browser, server: str) -> None:
    watched = Watched(browser)
    watched.page.goto(f"{server}/page/#/run/01a23163-0000-7000-8000-000000000000")
    expect(watched.page.get_by_text("The run can't be shown: ")).to_be_visible()
    assert [said for said in watched.complaints if "404" not in said] == []
    watched.complaints.clear()
    watched.close()


def test_a_write_is_made_as_a_person_edited_it(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(page, server, 'write "hello" to hello.txt', root=str(tmp_path))
    page.get_by_role("button", name="Edit…").click()
    text = page.locator(".answerform [data-name=text]")
    expect(text).to_have_value("hello")
    text.fill("good evening")
    page.get_by_role("button", name="Run it like this").click()
    expect(state(page)).to_have_text("done")
    assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "good evening"


def test_what_is_wrong_with_an_edit_is_said_and_asked_again(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(page, server, 'write "hello" to hello.txt', root=str(tmp_path))
    page.get_by_role("button", name="Edit…").click()
    page.locator(".answerform [data-name=path]").fill("../outside.txt")
    page.get_by_role("button", name="Run it like this").click()
    expect(page.locator(".ask .wrong[role=alert]").first).to_contain_text("outside")
    expect(state(page)).to_have_text("waits for you")
    page.get_by_role("button", name="Approve").click()
    expect(state(page)).to_have_text("done")
    assert (tmp_path / "hello.txt").read_text(encoding="utf-8") == "hello"


def test_a_write_that_is_rejected_is_not_made(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(page, server, 'write "hello" to hello.txt', root=str(tmp_path))
    page.get_by_role("button", name="Reject…").click()
    page.get_by_label("Why (may be empty)").fill("not today")
    page.locator(".answerform").get_by_role("button", name="Reject").click()
    expect(state(page)).to_have_text("rejected")
    expect(page.locator(".outcome")).to_contain_text("not today")
    assert not (tmp_path / "hello.txt").exists()


def test_a_question_is_answered(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    steps = [{"id": "look", "tool": "read_file", "args": {"path": "missing.txt"}, "on_failure": "ask"}]
    start(page, server, "read it", pattern="workflow", plan={"goal": "the text", "steps": steps}, root=str(tmp_path))
    expect(page.locator("[data-kind=question]")).to_contain_text("missing.txt")
    page.get_by_role("button", name="Answer…").click()
    page.locator(".answerform textarea").fill("what stands in it")
    page.get_by_role("button", name="Send").click()
    expect(state(page)).to_have_text("done")
    expect(page.locator(".outcome .answer")).to_contain_text("what stands in it")


def test_a_plan_is_edited_and_its_versions_stand_side_by_side(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(
        page, server, "add 1 and 2, then multiply it by 3, then add 4 and 5", approve_plan="always", root=str(tmp_path)
    )
    card = page.locator("[data-kind=plan]")
    expect(card).to_contain_text("1 + 2")
    card.get_by_role("button", name="Edit…").click()
    fields = card.locator("fieldset", has_text="s2").locator("[data-name=expression]")
    expect(fields).to_have_value("(${steps.s1}) * 3")
    fields.fill("(${steps.s1}) * 100")
    card.locator("[data-out=s3]").check()
    card.get_by_role("button", name="Run it like this").click()
    expect(state(page)).to_have_text("done")
    expect(page.locator(".outcome .answer")).to_have_text("300")
    page.get_by_role("tab", name="Versions").click()
    panel = page.locator("#panel-versions")
    expect(panel.locator(".side").nth(1)).to_contain_text("a person: edited by a person")
    expect(panel.locator("tr.change-changed")).to_contain_text("* 100")
    expect(panel.locator("tr.change-kept")).to_contain_text("1 + 2")
    expect(panel.locator("tr.change-dropped")).to_contain_text("4 + 5")
    expect(panel.locator(".side").nth(0).locator("[data-step=s2]")).to_contain_text("changed")


def test_nothing_of_a_plan_runs_that_a_person_rejected(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(page, server, "add 1 and 2", approve_plan="always", root=str(tmp_path))
    page.locator("[data-kind=plan]").get_by_role("button", name="Reject…").click()
    page.get_by_label("Why (may be empty)").fill("wrong numbers")
    page.locator(".answerform").get_by_role("button", name="Reject").click()
    expect(state(page)).to_have_text("rejected")
    expect(page.locator(".outcome")).to_contain_text("wrong numbers")
    expect(page.locator("[data-step=s1]")).to_contain_text("not run")


def test_a_plan_that_a_person_broke_is_asked_about_again_and_may_be_written_as_json(
    watched: Watched, server: str, tmp_path: Path
) -> None:
    page = watched.page
    start(page, server, "add 1 and 2, then multiply it by 3", approve_plan="always", root=str(tmp_path))
    card = page.locator("[data-kind=plan]")
    card.get_by_role("button", name="Edit…").click()
    card.locator("[data-out=s1]").check()
    card.get_by_role("button", name="Run it like this").click()
    expect(card.locator(".wrong[role=alert]").first).to_contain_text("s1")  # s2 needs what s1 gives
    card.get_by_role("button", name="Edit…").click()
    card.locator("details > summary").click()
    step = {"id": "only", "tool": "calculator", "args": {"expression": "7 * 7"}}
    card.locator("[data-name=steps]").fill(json.dumps([step]))
    card.get_by_role("button", name="Run it like this").click()
    expect(page.locator(".outcome .answer")).to_have_text("49")


@pytest.mark.parametrize("modes", [["values"], ["custom", "updates"]])
def test_a_run_that_another_program_started_is_watched_too(
    watched: Watched, server: str, loopback: Any, tmp_path: Path, modes: list[str]
) -> None:
    page, held = watched.page, Held(loopback, f"/{modes[0]}")
    steps = [
        {"id": "first", "tool": "calculator", "args": {"expression": "1 + 1"}},
        {"id": "look", "tool": "fetch_page", "args": {"url": held.url}, "after": ["first"]},
    ]
    context = {"plan": {"goal": "a page", "steps": steps}, "private_hosts": [held.host], "root": str(tmp_path)}
    run = {"assistant_id": "workflow", "input": {"task": "by a program"}, "context": context, "stream_mode": modes}
    with httpx.Client(base_url=server, timeout=20) as client:
        thread = client.post("/threads", json={}).json()["thread_id"]
        assert client.post(f"/threads/{thread}/runs", json=run).status_code == 200
    assert held.asked.wait(20)
    page.goto(f"{server}/page/#/run/{thread}")
    expect(state(page)).to_have_text("running")
    expect(page.locator("[data-step=look]")).to_be_visible()  # the plan is known, though its event has gone by
    held.go_on.set()
    expect(state(page)).to_have_text("done")
    expect(page.locator("[data-step=look]")).to_contain_text("done")


def test_the_look_that_a_person_chose_stays(watched: Watched, server: str) -> None:
    page = watched.page
    page.goto(f"{server}/page/")
    paint = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paint)
    page.get_by_role("button", name="Auto").click()
    page.get_by_role("button", name="Light").click()
    dark = page.evaluate(paint)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="运行")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="运行")).to_be_visible()
    assert light != dark == page.evaluate(paint)


def test_a_run_is_stopped_and_goes_on(watched: Watched, server: str, loopback: Any, tmp_path: Path) -> None:
    page, held = watched.page, Held(loopback, "/stopped")
    steps = [{"id": "look", "tool": "fetch_page", "args": {"url": held.url}}]
    plan = {"goal": "a page", "steps": steps}
    start(page, server, "look", pattern="workflow", plan=plan, private_hosts=held.host, root=str(tmp_path))
    expect(page.locator("[data-step=look]")).to_contain_text("running")
    assert held.asked.wait(20)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(state(page)).to_have_text("cut off")
    held.go_on.set()
    page.get_by_role("button", name="Go on").click()
    expect(state(page)).to_have_text("done")
    expect(page.locator(".outcome .answer")).to_contain_text("was waited for")


def test_a_follow_up_on_the_same_thread_knows_the_first_task(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    start(page, server, "add 17 and 25", root=str(tmp_path))
    expect(page.locator(".outcome .answer")).to_have_text("42")
    page.get_by_role("link", name="Follow-up task").click()
    page.get_by_label("Task").fill("add 1 and 2")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".outcome .answer")).to_have_text("3")
    expect(page.locator(".runhead h1")).to_have_text("add 1 and 2")
    page.get_by_role("tab", name="Events").click()
    expect(page.locator("#panel-events tr.event", has_text="request")).to_have_count(1)


def test_a_run_is_deleted(watched: Watched, server: str, tmp_path: Path) -> None:
    page, watched.agrees = watched.page, True
    start(page, server, "add 40 and 2", root=str(tmp_path))
    expect(page.locator(".outcome .answer")).to_have_text("42")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_text("Loading…")).to_have_count(0)
    expect(page.locator(".run", has_text="add 40 and 2")).to_have_count(0)


def finished(server: str, task: str, root: Path) -> str:
    """A thread with a run that a program made."""
    run = {"assistant_id": "plan_and_execute", "input": {"task": task}, "context": {"root": str(root)}}
    with httpx.Client(base_url=server, timeout=60) as client:
        thread = client.post("/threads", json={}).json()["thread_id"]
        assert client.post(f"/threads/{thread}/runs/wait", json=run).status_code == 200
    return str(thread)


def made_odd(server: str, thread: str, odd: dict[str, Any]) -> None:
    """Writes what no run would into a thread: our patterns refuse it, another graph of the server does not."""
    with httpx.Client(base_url=server, timeout=20) as client:
        values = client.get(f"/threads/{thread}/state").json()["values"]
        whole = {name: values[name] for name in ("request", "plans", "results", "events", "report")} | odd
        assert client.post(f"/threads/{thread}/state", json={"values": odd}).status_code == 400
        assert client.patch(f"/threads/{thread}", json={"metadata": {"graph_id": "stranger"}}).status_code == 200
        answer = client.post(f"/threads/{thread}/state", json={"values": whole, "as_node": "conclude"})
        assert answer.status_code == 200, answer.text


NO_RUN_WROTE = "this run's state can't be shown: it holds what no run writes"


@pytest.mark.parametrize(
    ("odd", "said", "report_too"),
    [
        ({"results": {"s9": {"step": "s9"}}}, NO_RUN_WROTE, False),
        ({"report": {"answer": "x"}}, NO_RUN_WROTE, True),
        ({"events": [{"event": "x"}]}, NO_RUN_WROTE, True),
        ({"report": a_report([], [], notes="no list")}, "TypeError", False),  # only the page's own script finds it
    ],
    ids=["results", "report", "events", "notes"],
)
def test_a_run_whose_state_is_odd_says_so_once_and_can_be_deleted(
    browser: Browser, server: str, tmp_path: Path, odd: dict[str, Any], said: str, report_too: bool
) -> None:
    thread = finished(server, "add 20 and 3", tmp_path)
    watched = Watched(browser)
    page, watched.agrees = watched.page, True
    with page.expect_response("**/stamp"):  # from now on the page asks whether the thread has changed
        page.goto(f"{server}/page/#/run/{thread}")
    expect(page.locator(".outcome .answer")).to_have_text("23")
    made_odd(server, thread, odd)
    expect(page.get_by_role("alert")).to_contain_text(said)  # an open page hears of it by itself
    expect(page.locator(".outcome")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text(said)
    report = httpx.get(f"{server}/page/data/runs/{thread}/report.html")
    assert report.status_code == (422 if report_too else 200), report.text
    assert (said in report.text and len(report.text) < 400) is report_too
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    assert httpx.get(f"{server}/threads/{thread}").status_code == 404
    assert [complaint for complaint in watched.complaints if "422" not in complaint and said not in complaint] == []
    watched.complaints.clear()
    watched.close()


def test_a_run_that_another_client_deleted_leaves_nothing_to_press(
    browser: Browser, server: str, tmp_path: Path
) -> None:
    watched = Watched(browser)
    page, watched.agrees = watched.page, True
    for press in (True, False):
        start(page, server, 'write "x" to x.txt', root=str(tmp_path))
        expect(state(page)).to_have_text("waits for you")
        thread = page.url.rpartition("/")[2]
        assert httpx.delete(f"{server}/threads/{thread}").status_code == 204
        if press:  # before the page has heard of it
            page.get_by_role("button", name="Delete").click()
            expect(page.get_by_role("heading", name="Runs")).to_be_visible()
        else:
            expect(page.get_by_role("alert").filter(has_text="not found")).to_be_visible()
            expect(page.locator("main").get_by_role("button")).to_have_count(0)
    assert [complaint for complaint in watched.complaints if "404" not in complaint] == []
    watched.complaints.clear()
    watched.close()


def test_an_odd_address_shows_the_plan_or_says_that_there_is_no_such_run(
    browser: Browser, server: str, tmp_path: Path
) -> None:
    watched = Watched(browser)
    page, thread = watched.page, finished(server, "add 20 and 4", tmp_path)
    for tab in ("toString", "constructor", "__proto__"):
        page.goto(f"{server}/page/#/run/{thread}/{tab}")
        expect(page.locator("#panel-plan [data-step=s1]")).to_be_visible()
    page.goto(f"{server}/page/#/run/%E0%A4%A")
    expect(page.get_by_text("The run can't be shown: ")).to_be_visible()
    assert [complaint for complaint in watched.complaints if "the server responded with" not in complaint] == []
    watched.complaints.clear()
    watched.close()


def test_a_mistake_is_said_at_its_field_and_one_that_the_server_finds_in_the_run(watched: Watched, server: str) -> None:
    page = watched.page
    page.goto(f"{server}/page/#/new")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("This is needed.")).to_be_visible()
    page.get_by_label("Task").fill("add 1 and 2")
    page.locator("details.more > summary").click()
    page.locator("[data-name=Inputs]").fill("{broken")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("This is no JSON")).to_be_visible()
    page.locator("[data-name=Inputs]").fill("")
    page.locator("details.settings > summary").click()
    page.locator("[data-name=model]").fill("nobody:none")
    page.get_by_role("button", name="Start").click()
    expect(state(page)).to_have_text("error")
    expect(page.locator("main > .wrong")).to_contain_text("nobody")


def test_everything_can_be_done_by_keyboard(watched: Watched, server: str, tmp_path: Path) -> None:
    page = watched.page
    page.goto(f"{server}/page/")
    tab_to(page, "New run")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Task")).to_be_focused()
    page.keyboard.type('write "by keyboard" to keys.txt')
    tab_to(page, "Settings")
    page.keyboard.press("Enter")
    tab_to(page, "root")
    page.keyboard.type(str(tmp_path))
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    tab_to(page, "Approve")
    page.keyboard.press("Enter")
    expect(state(page)).to_have_text("done")
    assert (tmp_path / "keys.txt").read_text(encoding="utf-8") == "by keyboard"
    tab_to(page, "Plan")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Time line")).to_be_focused()
    expect(page.locator("#panel-time")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    tab_to(page, "s1")
    page.keyboard.press("Enter")
    expect(page.locator(".details")).to_contain_text("keys.txt")


def tab_to(page: Page, name: str) -> None:
    """Presses the tabulator until what begins with that name has the focus, which must be visible."""
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => { const one = document.activeElement; return [one.dataset.name || one.textContent.trim(),"
            " getComputedStyle(one).outlineStyle]; }"
        )
        if found[0].startswith(name):
            assert found[1] != "none", f"nobody sees that {name} has the focus"
            return
    raise AssertionError(f"{name} can't be reached by keyboard")


def test_it_speaks_chinese(browser: Browser, server: str, tmp_path: Path) -> None:
    watched = Watched(browser, locale="zh-CN")
    page = watched.page
    page.goto(f"{server}/page/#/new")
    page.get_by_label("任务", exact=True).fill("把17加25，再乘以3，写入结果.txt")
    page.locator("details.settings > summary").click()
    expect(page.get_by_text("文件工具唯一可以触及的文件夹。")).to_be_visible()
    page.locator("[data-name=root]").fill(str(tmp_path))
    page.get_by_role("button", name="开始").click()
    expect(state(page)).to_have_text("等待你")
    page.get_by_role("button", name="批准").click()
    expect(state(page)).to_have_text("完成")
    assert (tmp_path / "结果.txt").read_text(encoding="utf-8").strip() == "126"
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("tab", name="事件").click()
    expect(page.locator("#panel-events")).to_contain_text("任务开始")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("tab", name="Events")).to_be_visible()
    watched.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_never_scrolls_sideways_and_every_text_can_be_read(
    browser: Browser, server: str, scheme: str, tmp_path: Path
) -> None:
    watched = Watched(
        browser, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True, color_scheme=scheme
    )
    page = watched.page
    thread = hostile_thread(server, "x" * 300)
    start(page, server, 'write "hello" to hello.txt', root=str(tmp_path))
    expect(state(page)).to_have_text("waits for you")
    page.get_by_role("button", name="Edit…").click()
    fits(page)
    for language, place in product(("en", "zh"), ("#/", "#/new", *(f"#/run/{thread}/{tab}" for tab in TABS))):
        page.evaluate(f"localStorage.setItem('forethought-language', '{language}')")
        page.goto(f"{server}/page/?{language}{place}")
        expect(page.locator(".run, form, [role=tabpanel]:not([hidden])").first).to_be_visible()
        expect(page.get_by_text(re.compile("Loading…|加载中…"))).to_have_count(0)
        fits(page)
        assert not page.evaluate(NAMELESS)
        faint = page.evaluate(FAINT)
        assert not faint, f"{place} in {scheme}: {faint}"
    watched.close()


def fits(page: Page) -> None:
    """Against the width that was asked for: on a phone `innerWidth` grows with what does not fit."""
    size = page.viewport_size
    assert size and page.evaluate("document.documentElement.scrollWidth") <= size["width"], page.url


TABS = ("plan", "time", "versions", "events", "results", "cost")
NAMELESS = """() => [...document.querySelectorAll("input, select, textarea, button, a")]
  .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim())).map((one) => one.outerHTML)"""
FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(parts(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    const unseen = one.closest(".sr, .skip, noscript, :disabled");
    if (!walk.currentNode.data.trim() || !one.checkVisibility() || unseen) continue;
    const back = behind(one);
    const [a, b] = [light(over(parts(getComputedStyle(one).color), back)), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${walk.currentNode.data.trim().slice(0, 40)} ${ratio.toFixed(2)}`);
  }
  return found;
}"""

MARKUP = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1">'


def hostile_thread(server: str, text: str) -> str:
    """A thread whose state holds a text wherever a run can hold one; it is put there as it is, no run made it."""
    states: list[Any] = ["done", "degraded", "failed", "blocked", "skipped", "waiting", "unknown", "not_run"]
    one = a_step(text, tool=text, why=text, effect="write", accept=[text], critical=True)
    steps = [one, *(a_step(f"{text}{place}", text, tool=text, why=text) for place in range(1, len(states)))]
    other = a_plan(*(a_step(step["id"], tool=text, why=f"{text}!") for step in steps[:3]), version=2, reason=text)
    results = [
        a_result(step, status, started=float(place), output=text, note=text, args={text: text}, artefact=text)
        for place, (step, status) in enumerate(zip(steps, states, strict=True))
    ]
    report = a_report(
        [a_plan(*steps, reason=text), other], results, task=text, answer=text, missing=[text], notes=[text],
        writes=[text], risks=[text], people=[text], thoughts=[{"text": text}], models={text: text},
        stop={"kind": "failure", "reason": text, "message": text, "evidence": [text]},
    )  # fmt: skip
    event = {"run": "r", "plan_version": 1, "reason": text, "evidence": [text], "next": text, "step": text}
    request = {"id": "r", "task": text, "pattern": text, "started": 0.0, "constraints": {}, "inputs": {text: text}}
    values = {
        "request": request, "plans": report["plans"], "results": {one["step"]: one for one in results},
        "events": [{**event, "event": text, "time": 1.0}, {**event, "event": "stop", "time": 2.0}], "report": report,
    }  # fmt: skip
    with httpx.Client(base_url=server, timeout=20) as client:
        made = client.post("/threads", json={"metadata": {"graph_id": "stranger", "task": text}}).json()["thread_id"]
        answer = client.post(f"/threads/{made}/state", json={"values": values, "as_node": "conclude"})
        assert answer.status_code == 200, answer.text
    return str(made)


def test_text_of_a_run_is_never_markup(watched: Watched, server: str) -> None:
    page, thread = watched.page, hostile_thread(server, MARKUP)
    for tab in TABS:
        page.goto(f"{server}/page/#/run/{thread}/{tab}")
        panel = page.locator(f"#panel-{tab}")
        expect(panel).to_contain_text("onerror" if tab != "cost" else "Cost")
        panel.evaluate("one => one.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.get_by_role("tab", name="Plan").click()
    page.locator(".node").first.click()
    expect(page.locator(".details")).to_contain_text("<script>window.pwned=1</script>")
    expect(page.locator(".outcome .answer")).to_have_text(MARKUP)
    expect(page.locator(".runhead h1")).to_have_text(MARKUP)
    harmless(page)
    page.goto(f"{server}/page/#/")
    expect(page.locator(".run", has_text="<script>").first).to_be_visible()
    harmless(page)
    page.goto(f"{server}/page/data/runs/{thread}/report.html")
    expect(page.locator("h1")).to_contain_text("<script>")
    assert page.evaluate("window.pwned") is None


def test_what_tools_files_people_and_models_say_is_never_markup(
    watched: Watched, server: str, model_server: Any, tmp_path: Path
) -> None:
    page = watched.page
    (tmp_path / "evil.txt").write_text(MARKUP, encoding="utf-8")
    steps = [
        {"id": "s1", "tool": "read_file", "args": {"path": "evil.txt"}, "why": MARKUP},
        {"id": "s2", "tool": "write_file", "args": {"path": f"{'<img>'}.txt", "text": "${steps.s1}"}, "why": MARKUP},
    ]
    model_server.reply({"goal": MARKUP, "steps": steps}, MARKUP)
    settings = {"model": "scripted", "base_url": model_server.url, "root": str(tmp_path), "approve_plan": "always"}
    start(page, server, MARKUP, **settings)
    expect(page.locator("[data-kind=plan]")).to_contain_text("onerror")
    harmless(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("[data-kind=approval]")).to_contain_text("onerror")
    page.get_by_role("button", name="Edit…").click()
    harmless(page)
    page.get_by_role("button", name="Run it like this").click()
    expect(page.locator(".outcome .answer")).to_have_text(MARKUP)
    harmless(page)
    assert (tmp_path / "<img>.txt").read_text(encoding="utf-8") == MARKUP


def harmless(page: Page) -> None:
    """Nothing ran, and no element came from a text."""
    assert page.evaluate("window.pwned") is None
    made = "main script, main img:not(.wiring), main svg[onload], main [onerror], main iframe, main style"
    assert page.locator(made).count() == 0


def test_the_report_of_a_run_opens_alone_draws_the_plan_and_runs_no_script(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    task = f'write "{MARKUP.replace(chr(34), chr(39))}" to hello.txt'
    command(home, "run", task, "--thread", "evil", "--root", str(tmp_path), "--yes")
    command(home, "report", "evil", "-o", str(tmp_path / "report.html"))
    watched = Watched(browser)
    page, address = watched.page, (tmp_path / "report.html").as_uri()
    page.goto(address)
    expect(page.locator("h1")).to_contain_text("<script>")
    drawn = page.locator("svg.ft", has=page.locator("text.ft-title", has_text="s1")).first
    expect(drawn).to_be_visible()
    box = drawn.bounding_box()
    assert box and box["width"] > 300 and box["height"] > 60
    assert page.evaluate("window.pwned") is None
    assert watched.requests == [address]
    watched.close()


def command(home: Path, *words: str) -> None:
    """Runs the command in a process of its own: the browser's driver has this thread's event loop."""
    ran = subprocess.run(
        [sys.executable, "-m", "graphs.cli", *words], env=newcomer(home), capture_output=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
