"""Around the plan page: who may use the server, words in both languages, no markup from text, what is packed."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

import graphs
from graphs._drawing import LOOKS
from graphs._watch import _PHASES, STATES, Watch
from page.artefact import artefact_of
from page.guard import Guard, refused
from page.looks import _LIVE, states_css
from page.odd import OddState, readable
from page.seen import Seen
from page.server import Thread
from state.context import Context
from state.events import event_record
from state.limits import Limits
from state.stop import StopReason
from state.value import Weights
from tests.support.drawn import a_plan, a_result, a_step

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "page" / "static"
WORDS: dict[str, Any] = {
    name: json.loads((STATIC / "words" / f"{name}.json").read_text(encoding="utf-8")) for name in ("en", "zh")
}
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
OWN, EVIL, STUDIO = "http://127.0.0.1:2024", "https://evil.example", "https://smith.langchain.com"
CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    ("headers", "may"),
    [
        ({}, True),
        ({"origin": OWN}, True),
        ({"origin": STUDIO}, True),
        ({"origin": "http://localhost:3000"}, True),
        ({"origin": EVIL}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://127.0.0.1.evil.example"}, False),
        ({"origin": f"{STUDIO}.evil.example"}, False),
        (CROSS, False),
        (LINK, True),
        ({"host": "evil.example:2024"}, False),
        ({"host": "evil.example:2024", "origin": "http://evil.example:2024"}, False),
        ({"host": "localhost:2024"}, True),
        ({"host": "[::1]:2024"}, True),
        ({"origin": "http://["}, False),
        ({"host": "["}, False),
        ({"host": "[", "origin": "http://["}, False),
    ],
)
def test_a_server_on_loopback_serves_its_own_page_and_programs_not_pages_of_others(
    headers: dict[str, str], may: bool
) -> None:
    assert (refused({"host": "127.0.0.1:2024", **headers}, "127.0.0.1") == "") is may


def test_an_origin_that_is_no_address_is_not_the_server_itself_where_no_host_is_said() -> None:
    for origin in ("http://[", "null"):
        assert "may not use this server" in refused({"host": "", "origin": origin}, "10.0.0.5")


def test_who_runs_the_server_names_other_sites_and_other_names_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_ORIGINS", "https://chat.example, https://plans.example")
    here = {"host": "127.0.0.1:2024"}
    assert not refused({**here, "origin": "https://chat.example"}, "127.0.0.1")
    assert "FORETHOUGHT_ORIGINS" in refused({**here, "origin": STUDIO}, "127.0.0.1")
    assert not refused({"host": "plans.example", "origin": "https://plans.example"}, "127.0.0.1")
    assert not refused({"host": "other.example", "origin": "https://other.example"}, "10.0.0.5")
    monkeypatch.setenv("FORETHOUGHT_ORIGINS", "*")
    assert not refused({"host": "evil.example", "origin": EVIL}, "127.0.0.1")


async def test_a_socket_of_another_site_is_closed_before_anything_hears_of_it() -> None:
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        said.append(message)

    async def never(*_: Any) -> None:
        raise AssertionError("the server was asked")

    headers = [(b"host", b"127.0.0.1:2024"), (b"origin", b"https://evil.example")]
    scope = {"type": "websocket", "path": "/v2", "headers": headers, "server": ("127.0.0.1", 2024)}
    await Guard(never)(scope, receive, send)
    assert said == [{"type": "websocket.close", "code": 1008}]


def test_both_languages_say_the_same_things() -> None:
    for name, said in WORDS["en"].items():
        assert set(said) == set(WORDS["zh"][name]), name
    for lists in WORDS.values():
        assert all(text.strip() for said in lists.values() for text in said.values())
    for name, text in WORDS["en"]["page"].items():
        assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", WORDS["zh"]["page"][name])), name


def test_every_word_that_a_script_asks_for_is_there() -> None:
    asked = {name for text in SCRIPTS.values() for name in re.findall(r"\bt\(\"(\w+)\"", text)}
    assert asked and asked <= set(WORDS["en"]["page"])


def test_what_the_engine_says_has_words() -> None:
    documented = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
    table = documented[documented.index("| event | when |") :].split("\n\n")[0]
    events = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    right = {
        "events": events, "stops": {reason.value for reason in StopReason}, "results": set(STATES),
        "states": {*filter(None, LOOKS), *_LIVE}, "phases": {*_PHASES.values(), Watch().phase},
        "patterns_short": set(graphs.names()),
    }  # fmt: skip
    for name, words in right.items():
        assert set(WORDS["en"][name]) == words, f"{name} in page/static/words/en.json and zh.json"


def test_patterns_are_offered_in_the_order_of_the_product() -> None:
    [order] = re.findall(r"ORDER = (\[.*\]);", SCRIPTS["start.js"])
    assert json.loads(order) == list(graphs.names())


def test_every_setting_and_pattern_has_its_help_in_chinese() -> None:
    words = WORDS["zh"]
    assert set(words["settings"]) == set(Context.model_fields) - {"replay"}
    assert set(words["limits"]) == set(Limits.model_fields)
    assert set(words["value"]) == set(Weights.model_fields)
    assert set(words["patterns"]) == set(graphs.names())


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_makes_markup_or_code_of_a_text(name: str) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser|https?://"
    )
    text = SCRIPTS[name].replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(forbidden, text)


def test_the_page_loads_nothing_but_its_own_files() -> None:
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:src|href)="([^"#][^"]*)"', text))
    assert named and all((STATIC / name).exists() or name == "states.css" for name in named)
    styles = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.css"))
    assert "url(" not in styles and "@import" not in styles and "style=" not in text
    assert set(re.findall(r"\.s-([\w-]+)\{", states_css())) == {s.replace(" ", "-") for s in (*LOOKS, *_LIVE) if s}


def test_what_a_stream_says_again_changes_nothing_and_a_plan_may_come_in_parts() -> None:
    first, more = a_plan(a_step("s1")), a_plan(a_step("s2"))
    watch = Watch()
    for _ in range(2):
        for plan in (first, more, a_plan(a_step("s3"), version=2)):
            watch.see("updates", {"plan": {"plans": [plan]}})
    assert [[step["id"] for step in plan["steps"]] for plan in watch.plans] == [["s1", "s2"], ["s3"]]


def test_the_server_is_told_of_the_page_and_the_wheel_holds_it() -> None:
    served = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    assert served["http"]["app"] == "page.app:app"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "page" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


async def test_a_thread_of_another_graph_is_an_empty_run_not_a_fault() -> None:
    values = {"request": "a text", "plans": "none", "events": [{"what": 1}], "messages": []}
    thread = Thread({"thread_id": "t", "status": "idle", "metadata": {"graph_id": "other"}}, {"values": values}, [])
    told = Seen(thread).patch()
    assert (told["head"]["pattern"], told["head"]["task"], told["steps"]["order"]) == ("other", "", [])
    assert Seen(thread).patch() == told | {"now": ANY}


ODD: list[dict[str, Any]] = [
    {"results": {"s9": {"step": "s9"}}},
    {"results": {"s1": None}},
    {"plans": [{"version": 1}]},
    {"plans": [{"version": 1, "steps": [{"id": "s1"}]}]},
    {"report": {"answer": "x"}},
    {"report": [1]},
    {"report": {"stop": {"reason": 5}}},
    {"events": [{"event": "x"}]},
    {"events": ["a", 5, None]},
    {"events": "zz"},
]


@pytest.mark.parametrize("values", ODD, ids=str)
def test_a_state_that_no_run_wrote_is_said_in_one_line(values: dict[str, Any]) -> None:
    whole = {"request": {"id": "r", "task": "add", "pattern": "rewoo"}, "plans": [a_plan(a_step("s1"))], **values}
    with pytest.raises(OddState, match="this run's state can't be shown: it holds what no run writes"), readable():
        Seen(Thread({"thread_id": "t"}, {"values": whole}, [])).patch()


async def test_an_odd_result_is_no_reason_to_hand_out_a_file() -> None:
    request = {"id": "r", "task": "add", "pattern": "rewoo"}
    thread = Thread({"thread_id": "t"}, {"values": {"request": request, "results": {"s1": None}}}, [])
    with pytest.raises(OddState, match="can't be shown"):
        await artefact_of(thread, "ab12")


@pytest.mark.parametrize("task", [5, ["a", {}], {"x": 1}])
def test_a_task_that_is_no_text_is_shown_as_one(task: Any) -> None:
    values = {"request": {"id": "r", "task": task, "pattern": "rewoo"}}
    assert Seen(Thread({"thread_id": "t"}, {"values": values}, [])).patch()["head"]["task"] == str(task)


def test_a_step_whose_request_is_answered_waits_for_the_other_answers() -> None:
    steps = [a_step("s1"), a_step("s2"), a_step("s3")]
    asked = {"s1": ["q-s1"], "s2": ["q-s2"], "s3": ["q-s1", "q-s3"]}  # of two requests of a step one is answered
    results = {
        step["id"]: {**a_result(step, "waiting"), "requests": [{"id": one} for one in asked[step["id"]]]}
        for step in steps
    }
    request = {"id": "r", "task": "two", "pattern": "rewoo"}
    values = {"request": request, "plans": [a_plan(*steps)], "results": results}
    asks = [{"id": f"i-{name}", "value": {"id": f"q-{name}"}} for name in ("s2", "s3")]
    for interrupts, said in ((asks, ["waits", "asks you", "asks you"]), ([], ["asks you"] * 3)):
        state = {"values": values, "tasks": [{"interrupts": interrupts}], "next": ["approve"]}
        rows = Seen(Thread({"thread_id": "t"}, state, [])).patch()["steps"]["rows"]
        assert [row["state"] for row in rows.values()] == said
        assert [row.get("answered", False) for row in rows.values()] == [state == "waits" for state in said]


def test_only_what_is_new_is_told_again() -> None:
    steps = [a_step("s1"), a_step("s2", "s1")]
    request = {"id": "r", "task": "two", "pattern": "rewoo", "started": 0.0}
    values = {"request": request, "plans": [a_plan(*steps)], "results": {}, "events": []}
    run = {"run_id": "r", "status": "running", "assistant_id": "a"}
    seen = Seen(Thread({"thread_id": "t", "status": "busy"}, {"values": values}, [run]))
    assert set(seen.patch()["steps"]["rows"]) == {"s1", "s2"}
    assert seen.patch() == {}
    seen.see("custom", event_record("r", "step_started", step="s1"))
    told = seen.patch()
    assert [row["state"] for row in told["steps"]["rows"].values()] == ["running"]
    assert [event["event"] for event in told["events"]["new"]] == ["step_started"] and "graph" not in told
    seen.see("updates", {"step": a_result(steps[0], output="42")})
    assert {name: row["state"] for name, row in seen.patch()["steps"]["rows"].items()} == {"s1": "done", "s2": "next"}


def test_settings_and_the_reason_of_a_failure_are_read_from_runs_as_either_server_keeps_them() -> None:
    settings = {"smtp": "smtp://127.0.0.1:25"}
    failed = {"thread_id": "t", "status": "error"}
    langgraph = {"run_id": "r", "status": "error", "kwargs": {"context": settings}}
    aegra = {"run_id": "r", "status": "error", "context": settings, "error_message": "the task is empty"}
    for run, said in ((langgraph, "the stream's word"), (aegra, "the task is empty")):
        seen = Seen(Thread(failed, {"values": {}}, [run]))
        seen.see("error", {"message": "the stream's word"})
        head = seen.patch()["head"]
        assert (head["context"], head["error"]) == (settings, said)
