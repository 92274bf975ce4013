"""Auto: the task is estimated, code decides by the tree, and the run is what it would be in the pattern chosen."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from graphs import fork, fork_points, load
from nodes.choice import FEW, MANY, TREE, decided
from state.choice import Features
from tests.support.model_server import ModelServer
from tests.support.protocol import text_of
from tests.support.runs import THREAD, after_planning, grade, plan, results, roles, says, statuses, step
from tests.support.script import Reply, failure
from tools.tool import read, write

pytestmark = pytest.mark.slow

TASK = {"task": "How much is (2 + 3) * 4?"}
CONTEXT = {"tools": ["calculator"]}
STEPS = [step("E1", "calculator", expression="2 + 3"), step("E2", "calculator", expression="${steps.E1} * 4")]
PLAN = plan(*STEPS)


def features(steps: int, **more: Any) -> Reply:
    return Reply({"steps": steps, **more}, schema="features", when="Role: chooser")


def look(steps: int = 5, **more: Any) -> Features:
    found: Any = {"dependent": False, "expandable": False, "vague": False, "writes": False, "workflow": "", "by": ""}
    return {**found, "steps": steps, **more}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("seen", "pattern"),
    [
        (look(workflow="w"), "workflow"),
        (look(40, workflow="w", vague=True, writes=True), "workflow"),
        (look(0), "one_shot"),
        (look(1), "one_shot"),
        (look(FEW, dependent=True), "one_shot"),
        (look(FEW + 1), "one_shot"),
        (look(MANY), "one_shot"),
        (look(MANY, expandable=True), "one_shot"),
        (look(FEW + 1, dependent=True), "plan_and_execute"),
        (look(MANY, dependent=True, writes=True), "plan_and_execute"),
        (look(FEW + 1, dependent=True, expandable=True), "rewoo"),
        (look(MANY, dependent=True, expandable=True), "rewoo"),
        (look(MANY + 1), "self_reflection"),
        (look(MANY + 1, dependent=True, expandable=True), "self_reflection"),
        (look(1, vague=True), "self_reflection"),
        (look(MANY + 1, writes=True), "plan_act_reflect"),
        (look(2, vague=True, writes=True), "plan_act_reflect"),
    ],
)  # fmt: skip
def test_code_decides_by_the_tree(seen: Features, pattern: str) -> None:
    assert decided(seen)[0] == pattern


def test_the_table_above_reaches_every_leaf_and_the_last_rule_always_holds() -> None:
    reached = {decided(look(n, **flags))[1] for n in (1, 5, 11) for flags in _flags()}
    assert reached == {reason for _, _, reason in TREE}
    assert TREE[-1][1](look())


def _flags() -> list[dict[str, Any]]:
    names = ("dependent", "expandable", "vague", "writes")
    every = [{name: bool(number >> n & 1) for n, name in enumerate(names)} for number in range(16)]
    return [{**one, "workflow": workflow} for one in every for workflow in ("", "w")]


LEAVES = [
    ("one_shot", features(2, dependent=True), [PLAN], "20", ["chooser", "planner"]),
    (
        "rewoo", features(3, dependent=True, expandable=True), [PLAN, says("it is 20")], "it is 20",
        ["chooser", "planner", "answerer"],
    ),
    (
        "plan_and_execute", features(3, dependent=True),
        [plan(step("E1", "calculator", expression="1 / 0")), plan(step("s1", "calculator", expression="20")),
         says("it is 20")],
        "it is 20", ["chooser", "planner", "planner", "answerer"],
    ),
    (
        "self_reflection", features(1, vague=True), [PLAN, says("it is 20"), grade()], "it is 20",
        ["chooser", "planner", "answerer", "checker"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "seen", "more", "answer", "asked"), LEAVES, ids=[leaf[0] for leaf in LEAVES])
async def test_the_run_goes_on_as_the_pattern_that_was_chosen_and_the_report_says_why(
    model_server: ModelServer, pattern: str, seen: Reply, more: list[Reply], answer: str, asked: list[str]
) -> None:
    model_server.reply(seen, *more)
    nodes: list[str] = []
    events: list[dict[str, Any]] = []
    report: Any = None
    async for mode, part in load("auto").astream(TASK, context=CONTEXT, stream_mode=["updates", "custom", "values"]):
        if mode == "updates":
            nodes += part
        elif mode == "custom":
            events.append(part)
        else:
            report = part.get("report")
    assert (report["answer"], report["stop"]["reason"], report["pattern"]) == (answer, "done", "auto")
    assert (
        report["chosen"]["pattern"] == pattern
        and report["chosen"]["reason"] == decided(report["chosen"]["features"])[1]
    )
    assert roles(model_server.requests) == asked
    assert nodes[:3] == ["intake", "choose", f"{pattern}.plan"] and nodes[-1] == "conclude"
    assert [event["next"] for event in events if event["event"] == "chosen"] == [pattern]
    assert any(event["event"] == "step_done" for event in events)


async def test_where_much_is_open_and_something_changes_key_steps_are_looked_back_on(
    model_server: ModelServer,
) -> None:
    key = step("E1", "calculator", more={"critical": True}, expression="2 + 3")
    model_server.reply(features(12, writes=True), plan(key, STEPS[1]), *after_planning("plan_act_reflect", "20"))
    report = (await load("auto").ainvoke(TASK, context=CONTEXT))["report"]
    assert (report["chosen"]["pattern"], report["answer"]) == ("plan_act_reflect", "20")
    assert report["counts"]["iterations"] == 2


async def test_a_model_that_can_not_estimate_leads_to_the_pattern_for_most_tasks(model_server: ModelServer) -> None:
    model_server.reply(failure(401, "no"), PLAN, says("20"))
    report = (await load("auto").ainvoke(TASK, context=CONTEXT))["report"]
    assert (report["chosen"]["pattern"], report["answer"]) == ("plan_and_execute", "20")
    assert "nobody could estimate the task" in report["chosen"]["reason"]


@pytest.mark.parametrize(
    ("task", "pattern", "answer"),
    [
        ("what is 17 * 23", "one_shot", "391"),
        ("add 17 and 25, then multiply it by 3, then subtract 6", "rewoo", "120"),
        ("fly to the moon", "one_shot", ""),
        ("17 加 25，然后乘以 3，再减去 6", "rewoo", "120"),
    ],
)  # fmt: skip
def test_without_a_model_rules_estimate(root: Path, task: str, pattern: str, answer: str) -> None:
    report = load("auto").invoke({"task": task}, context={"model": "offline"})["report"]
    assert (report["chosen"]["pattern"], answer in report["answer"]) == (pattern, True)
    assert report["stop"]["reason"] == ("done" if answer else "cannot_be_done")


# --- saved plans

PRICE = {
    "goal": "the price of all",
    "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
    "steps": [step("s1", "calculator", expression="${steps.inputs.count} * 2")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "plans"
    place.mkdir()
    (place / "price-of-all.json").write_text(json.dumps(PRICE))
    (place / "broken.yaml").write_text("goal: [")
    return place


async def by(folder: Path, task: str, inputs: Any = None) -> Any:
    given = {"task": task, "inputs": inputs or {}}
    return (await load("auto").ainvoke(given, context={**CONTEXT, "workflows": str(folder)}))["report"]


@pytest.mark.parametrize("task", ["The price of all.", "price of all"])
async def test_a_task_that_is_called_like_a_saved_plan_is_done_by_it_without_a_model(folder: Path, task: str) -> None:
    report = await by(folder, task, {"count": 4})
    assert (report["answer"], report["chosen"]["pattern"], report["usage"]["model_calls"]) == ("8", "workflow", 0)
    assert "broken.yaml:1" in report["chosen"]["reason"]


async def test_a_model_may_name_the_saved_plan_that_does_the_task(folder: Path, model_server: ModelServer) -> None:
    model_server.reply(features(9, workflow="price-of-all"))
    report = await by(folder, "what do they cost together?", {"count": 4})
    assert (report["answer"], report["chosen"]["features"]["workflow"]) == ("8", "price-of-all")
    assert "price-of-all" in text_of(model_server.requests[0]["messages"][0])


@pytest.mark.parametrize(
    ("named", "inputs"), [("no-such", {"count": 4}), ("price-of-all", {}), ("price-of-all", {"count": "x"})]
)
async def test_a_saved_plan_that_is_not_there_or_lacks_inputs_is_not_chosen(
    folder: Path, model_server: ModelServer, named: str, inputs: Any
) -> None:
    model_server.reply(features(2, workflow=named), PLAN)
    report = await by(folder, "what do they cost together?", inputs)
    assert (report["chosen"]["pattern"], report["chosen"]["features"]["workflow"]) == ("one_shot", "")
    lacks = "price-of-all.json is passed over, it lacks inputs: count (integer)"
    assert (lacks in report["chosen"]["reason"]) == (inputs == {})


async def test_a_task_that_is_called_like_a_saved_plan_that_lacks_inputs_says_so(folder: Path, root: Path) -> None:
    context = {**CONTEXT, "workflows": str(folder), "model": "offline"}
    chosen = (await load("auto").ainvoke({"task": "the price of all"}, context=context))["report"]["chosen"]
    assert chosen["reason"].count("price-of-all.json is passed over, it lacks inputs: count (integer)") == 1


async def test_a_plan_that_is_given_is_what_runs(model_server: ModelServer) -> None:
    given = {**CONTEXT, "plan": PRICE}
    report = (await load("auto").ainvoke({"inputs": {"count": 4}}, context=given))["report"]
    assert (report["answer"], report["chosen"]["pattern"], report["task"]) == ("8", "workflow", "the price of all")


# --- as in the pattern itself


class Post:
    """Counts what was sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, text: str) -> str:
        """Sends a text."""
        self.sent.append(text)
        return "sent"


def writing(pattern: str) -> list[Reply]:
    seen = {
        "one_shot": features(2, writes=True), "plan_and_execute": features(3, dependent=True),
        "rewoo": features(3, dependent=True, expandable=True),
    }  # fmt: skip
    return [seen[pattern], plan(step("a", "send", text="hi"), step("b", "send", text="ho"))]


@pytest.mark.parametrize("pattern", ["one_shot", "plan_and_execute", "rewoo"])
async def test_writes_wait_for_people_and_run_once_they_agree(
    model_server: ModelServer, tmp_path: Path, pattern: str
) -> None:
    post = Post()
    settings = {"tools": [write(post.send)], "home": str(tmp_path / "home")}
    connection = sqlite3.connect(tmp_path / "threads.db", check_same_thread=False)
    model_server.reply(*writing(pattern), *([] if pattern == "one_shot" else [says("both are sent")]))
    out = await load("auto", checkpointer=SqliteSaver(connection)).ainvoke(TASK, THREAD, context=settings)
    assert (post.sent, out["report"]["stop"]["reason"], len(out["__interrupt__"])) == ([], "needs_approval", 2)
    answers = {one.id: {"type": "approve"} for one in out["__interrupt__"]}
    again = load("auto", checkpointer=SqliteSaver(connection))
    out = await again.ainvoke(Command(resume=answers), THREAD, context=settings)
    assert (post.sent, out["report"]["stop"]["reason"]) == (["hi", "ho"], "done")
    connection.close()


async def test_a_run_that_failed_after_a_write_offers_to_undo_it(model_server: ModelServer, home: Path) -> None:
    post, back = Post(), Post()

    def fail() -> str:
        """Fails."""
        raise LookupError("gone")

    async def unsend(text: str) -> str:
        """Takes back."""
        return await back.send(text)

    send = write(post.send, compensate=lambda args, output: ("unsend", args))
    settings = {"tools": [send, write(unsend), read(fail)], "writes": "allow"}
    model_server.reply(features(2), plan(step("a", "send", text="hi"), step("b", "fail", more={"after": ["a"]})))
    graph = load("auto", checkpointer=InMemorySaver())
    out = await graph.ainvoke(TASK, THREAD, context=settings)
    [asked] = out["__interrupt__"]
    out = await graph.ainvoke(Command(resume={asked.id: {"type": "approve"}}), THREAD, context=settings)
    assert (post.sent, back.sent) == (["hi"], ["hi"])


def test_a_kept_run_can_be_forked_before_a_step(model_server: ModelServer, home: Path) -> None:
    graph = load("auto", checkpointer=InMemorySaver(), context=CONTEXT)
    model_server.reply(features(2, dependent=True), PLAN)
    graph.invoke(TASK, THREAD)
    assert {"1", "E1", "E2"} <= set(fork_points(graph, THREAD))
    other: Any = {"configurable": {"thread_id": "other"}}
    fork(graph, THREAD, at="E2", into=other)
    report = graph.invoke(None, other)["report"]
    assert (report["answer"], report["chosen"]["pattern"]) == ("20", "one_shot")


def test_a_batch_may_choose_another_pattern_for_each_task(model_server: ModelServer) -> None:
    def one(pattern: str, task: str, *replies: Reply) -> list[Reply]:
        return [Reply(r.content, schema=r.schema, when=lambda body, r=r: _about(task, body, r.when)) for r in replies]  # type: ignore[misc]

    model_server.reply(
        *one("one_shot", "first", features(1), plan(step("E1", "calculator", expression="1"))),
        *one("rewoo", "second", features(4, dependent=True, expandable=True), PLAN, says("it is 20")),
    )
    done = load("auto", context=CONTEXT).batch([{"task": "the first"}, {"task": "the second"}])
    assert [out["report"]["chosen"]["pattern"] for out in done] == ["one_shot", "rewoo"]
    assert [out["report"]["answer"] for out in done] == ["1", "it is 20"]


def _about(task: str, body: Any, role: Any) -> bool:
    text = "\n".join(map(text_of, body["messages"]))
    return f"the {task}" in text and role in text


async def test_a_second_task_on_the_thread_chooses_anew(model_server: ModelServer) -> None:
    graph = load("auto", checkpointer=InMemorySaver(), context=CONTEXT)
    model_server.reply(features(2), PLAN)
    first = (await graph.ainvoke(TASK, THREAD))["report"]
    model_server.reply(features(3, dependent=True), PLAN, says("it is 20"))
    second = (await graph.ainvoke(TASK, THREAD))["report"]
    assert [one["chosen"]["pattern"] for one in (first, second)] == ["one_shot", "plan_and_execute"]
    assert statuses(second) == {"E1": "done", "E2": "done"} and results(second)["E2"]["output"] == 20


async def test_it_estimates_in_chinese(model_server: ModelServer) -> None:
    model_server.reply(features(2), PLAN)
    await load("auto").ainvoke({"task": "(2 + 3) * 4 是多少？"}, context=CONTEXT)
    assert "你估计" in text_of(model_server.requests[0]["messages"][0])
