"""Workflow: a saved plan runs as it stands, without a planning call; the plan of a good run can be saved as one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graphs import load
from graphs.cli import execute
from nodes.plan_file import plan_text, read_plan, read_text
from nodes.saving import plan_of_run
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.plans import step
from tests.support.runs import THREAD, statuses
from tools.tool import read, write

PRICE = """goal: the price of all
parameters:
  type: object
  properties:
    price: {type: number, default: 12.5}
    count: {type: integer, description: how many}
  required: [count]
steps:
  - id: total
    tool: calculator
    args: {expression: "${steps.inputs.price} * ${steps.inputs.count}"}
  - id: half
    tool: calculator
    args: {expression: "${steps.total} / 2"}
"""


@pytest.fixture
def price(tmp_path: Path) -> Path:
    file = tmp_path / "price.yaml"
    file.write_text(PRICE)
    return file


async def run(plan: Any, given: Any = None, **context: Any) -> Any:
    return (await load("workflow").ainvoke(given or {}, context={"plan": plan, **context}))["report"]


async def test_a_saved_plan_runs_with_its_parameters_and_asks_no_model(
    price: Path, model_server: ModelServer, home: Path
) -> None:
    report = await run(str(price), {"inputs": {"count": 4}})
    assert (report["answer"], report["stop"]["reason"], report["task"]) == ("25", "done", "the price of all")
    assert (report["usage"]["model_calls"], model_server.requests) == (0, [])
    assert report["plans"][0]["by"] == "workflow" and str(price) in report["plans"][0]["reason"]
    report = await run(price, {"task": "six of it", "inputs": {"count": 6, "price": 2}})
    assert (report["answer"], report["task"]) == ("6", "six of it")


LIMITED = """goal: no more than the limit
parameters: {type: object, properties: {limit: {type: number}, items: {type: array}}, required: [limit]}
steps:
  - {id: sum, tool: calculator, args: {expression: "3 + 4"}, accept: ["output <= steps.inputs.limit * 2"]}
  - {id: double, tool: calculator, args: {expression: "${steps.sum} * 2"}, when: "steps.sum > steps.inputs.limit"}
  - {id: listed, tool: calculator, args: {expression: "1"}, when: "len(steps.inputs.items) > 0"}
"""


@pytest.mark.parametrize(
    ("limit", "sum_", "double"), [(5, "done", "done"), (9, "done", "skipped"), (1, "failed", "blocked")]
)
async def test_an_input_decides_in_when_and_in_accept(
    limit: float, sum_: str, double: str, tmp_path: Path, home: Path
) -> None:
    (tmp_path / "limited.yaml").write_text(LIMITED)
    report = await run(str(tmp_path / "limited.yaml"), {"inputs": {"limit": limit, "items": [1]}})
    assert statuses(report) == {"sum": sum_, "double": double, "listed": "done"}


async def test_a_condition_on_an_input_that_is_not_there_is_found_before_anything_runs(
    tmp_path: Path, home: Path
) -> None:
    (tmp_path / "limited.yaml").write_text(LIMITED)
    report = await run(str(tmp_path / "limited.yaml"), {"inputs": {"limit": 5}}, dry_run=True)
    assert report["stop"]["reason"] == "plan_invalid"
    assert "limited.yaml:6: step 'listed': there is no input 'items'; there are ['limit']" in report["stop"]["message"]


async def test_only_a_tool_that_needs_one_asks_a_model(model_server: ModelServer, home: Path) -> None:
    model_server.reply("short")
    plan = {"goal": "a summary", "steps": [step("s1", "summarise", {"text": "a long text"})]}
    report = await run(plan, tools=["words"])
    assert (report["answer"], report["usage"]["model_calls"]) == ("short", 1)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "price.yaml: give the inputs that have no default: count (integer: how many)"),
        ({"coutn": 4}, "price.yaml: there is no parameter 'coutn'; did you mean 'count'?"),
        ({"count": "four"}, "price.yaml: the inputs do not fit its parameters: count: 'four' is not of type 'integer'"),
        ([1], 'right would be {"name": value}'),
    ],
)  # fmt: skip
async def test_wrong_inputs_are_one_line_before_anything_runs(price: Path, inputs: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        await run(price, {"inputs": inputs})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tool: calculator", "tool: calculater", "price.yaml:9: step 'total': there is no tool 'calculater'; did you"),
        ("steps.total", "steps.totl", "price.yaml:12: step 'half': refers to step 'totl', which is not there"),
        ("{expression: \"${steps.total} / 2\"}", "{}", "price.yaml:12: step 'half': calculator: "),
        ("steps.inputs.price", "steps.inputs.prise", "price.yaml:9: step 'total': there is no input 'prise'"),
        ("id: half", "id: total", "step 'total': two steps have this id"),
    ],
)  # fmt: skip
async def test_a_plan_that_can_not_run_ends_before_it_runs_and_names_the_line(
    price: Path, old: str, new: str, said: str
) -> None:
    assert old in PRICE
    price.write_text(PRICE.replace(old, new, 1))
    report = await run(price, {"inputs": {"count": 4}})
    assert (report["stop"]["reason"], report["results"]) == ("plan_invalid", [])
    assert said in report["stop"]["message"]


async def test_what_settings_forbid_stays_forbidden(price: Path) -> None:
    report = await run(price, {"inputs": {"count": 4}}, deny=["calculator"])
    assert report["stop"]["reason"] == "blocked"


async def test_the_plan_belongs_to_the_patterns_that_take_one(price: Path) -> None:
    with pytest.raises(InputError, match="give one: setting plan"):
        await load("workflow").ainvoke({"task": "x"})
    with pytest.raises(InputError, match="the pattern one_shot plans for itself"):
        await load("one_shot").ainvoke({"task": "x"}, context={"plan": price})
    with pytest.raises(InputError, match="7 is no saved plan"):
        load("workflow", context={"plan": 7})


async def test_a_failed_step_ends_it_with_what_is_there_and_nothing_is_planned_anew(home: Path) -> None:
    def fail() -> str:
        """Fails."""
        raise LookupError("gone")

    steps = [step("a", "calculator", {"expression": "1 + 1"}), step("b", "fail"), step("c", "fail", after=["b"])]
    report = await run({"goal": "x", "steps": steps}, tools=["calculator", read(fail)])
    assert statuses(report) == {"a": "done", "b": "failed", "c": "blocked"}
    assert (report["stop"]["reason"], report["answer"].split("\n")[0]) == ("steps_failed", "2")


async def test_a_write_waits_for_a_person_and_goes_on_although_the_file_is_gone(price: Path, home: Path) -> None:
    sent: list[str] = []

    async def send(text: str) -> str:
        """Sends."""
        sent.append(text)
        return "sent"

    price.write_text(PRICE + "  - {id: out, tool: send, args: {text: 'it is ${steps.half}'}}\n")
    settings = {"tools": ["calculator", write(send)]}
    graph = load("workflow", checkpointer=InMemorySaver())
    out = await graph.ainvoke({"inputs": {"count": 4}}, THREAD, context={**settings, "plan": price})
    [asked] = out["__interrupt__"]
    price.unlink()
    out = await graph.ainvoke(Command(resume={asked.id: {"type": "approve"}}), THREAD, context=settings)
    assert (sent, out["report"]["stop"]["reason"]) == (["it is 25"], "done")


async def test_a_whole_plan_may_be_asked_about_but_not_sent_back(price: Path, home: Path) -> None:
    graph = load("workflow", checkpointer=InMemorySaver(), context={"plan": price, "approve_plan": "always"})
    out = await graph.ainvoke({"inputs": {"count": 4}}, THREAD)
    [asked] = out["__interrupt__"]
    assert asked.value["review_configs"][0]["allowed_decisions"] == ["approve", "edit", "reject"]
    out = await graph.ainvoke(Command(resume={asked.id: {"type": "approve"}}), THREAD)
    assert out["report"]["answer"] == "25"


# --- saving


def saved(report: Any, inputs: Any, workflow: Any = None) -> dict[str, Any]:
    request: Any = {"inputs": inputs, "task": report["task"], "workflow": workflow}
    return plan_of_run(report["plans"][-1], request)


NAMES = st.sampled_from(["who", "what", "how-many", "api_key", "path"])
LEAVES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.integers(-1000, 1000) | st.booleans()
LEAVES = LEAVES | st.floats(-1e6, 1e6) | st.none()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(inputs=st.dictionaries(NAMES, LEAVES, max_size=4), data=st.data())
def test_a_saved_plan_calls_the_same_tools_with_the_same_values(inputs: dict[str, Any], data: st.DataObject) -> None:
    """Whatever is in inputs and arguments: run, save, write, read, run again with what has no default."""
    got: list[Any] = []

    async def take(value: Any, more: Any = None) -> str:
        """Takes anything."""
        got.append([value, more])
        return "ok"

    literals = st.sampled_from([*inputs.values(), "x"]) | LEAVES
    texts = st.lists(literals.map(str), min_size=1, max_size=3).map(" and ".join)
    values = data.draw(st.lists(literals | texts | st.lists(literals, max_size=2), min_size=1, max_size=3))
    steps = [step(f"s{n}", "take", {"value": value, "more": {"k": value}}) for n, value in enumerate(values)]
    tools = {"tools": [read(take)], "concurrency": 1, "limits": {"same_call": 20}}

    async def both() -> None:
        first = await run({"goal": "g", "steps": steps}, {"inputs": inputs}, **tools)
        assert first["stop"]["reason"] == "done"
        text = plan_text(saved(first, first_inputs), "p.yaml")
        plan = read_text(text, "p.yaml")
        text_of_secret = str(inputs.get("api_key"))  # a secret number as a text is a parameter of its own
        lacking = {name: inputs.get(name, text_of_secret) for name in plan["parameters"].get("required", [])}
        again = {name: plan[name] for name in ("goal", "parameters", "steps")}
        second = await run(again, {"inputs": lacking}, **tools)
        assert second["stop"]["reason"] == "done"

    first_inputs = inputs
    asyncio.run(both())
    half = len(got) // 2
    assert repr(got[:half]) == repr(got[half:])


async def test_what_came_from_inputs_becomes_a_parameter_and_no_secret_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "token-of-the-shop")

    async def call(url: str, headers: dict[str, str], count: int) -> str:
        """Calls."""
        return "ok"

    inputs = {"shop": "blue", "count": 4, "password": "hunter2"}
    headers = {"auth": "Basic hunter2", "x": "token-of-the-shop", "api_key": "abc"}
    args = {"url": "https://example.org/blue/4?blueish", "headers": headers, "count": 4}
    plan = {"goal": "buy with hunter2", "steps": [step("s1", "call", args, why="hunter2 opens it")]}
    report = await run(plan, {"inputs": inputs}, tools=[read(call)])
    assert report["stop"]["reason"] == "done"
    found = saved(report, inputs)
    text = plan_text(found, "p.json")
    assert not [secret for secret in ("hunter2", "token-of-the-shop", "abc") if secret in text]
    assert found["steps"][0]["args"] == {
        "url": "https://example.org/${steps.inputs.shop}/4?blueish", "count": "${steps.inputs.count}",
        "headers": {
            "auth": "Basic ${steps.inputs.password}", "x": "${steps.inputs.x}", "api_key": "${steps.inputs.api_key}",
        },
    }  # fmt: skip
    assert found["parameters"]["required"] == ["password", "x", "api_key"]
    assert found["parameters"]["properties"]["shop"] == {"type": "string", "default": "blue"}


def test_a_run_is_saved_and_runs_again_to_the_same_result_on_the_command_line(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = execute(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    given = ["--model", "offline", "--inputs", '{"price": 12.5, "count": 4}']
    assert call("run", "multiply price by count", "--thread", "a", *given)[0] == 0
    code, out, _ = call("save", "a", "-o", "price.yaml")
    assert (code, out) == (0, "price.yaml: 1 step; inputs: price, count\n")
    code, out, _ = call("run", "--plan", "price.yaml", "--json")
    report = json.loads(out)
    assert (code, report["answer"], report["pattern"], report["usage"]["model_calls"]) == (0, "50", "workflow", 0)
    assert json.loads(call("run", "--plan", "price.yaml", "--json", "--inputs", '{"count": 5}')[1])["answer"] == "62.5"
    assert "can't be written: File exists" in call("save", "a", "-o", "price.yaml")[2]
    assert "ends in .yaml, .yml, .json" in call("save", "a", "-o", "price.txt")[2]
    assert call("run", "--plan", "none.yaml")[0] == 2
    call("run", "fly to the moon", "--thread", "b", "--model", "offline")
    assert "ended as cannot_be_done; only a plan that came to its goal" in call("save", "b", "-o", "b.yaml")[2]


async def test_a_saved_plan_that_is_saved_again_keeps_what_its_author_said_of_its_parameters(
    price: Path, home: Path
) -> None:
    report = await run(str(price), {"inputs": {"count": 2}})
    again = saved(report, {"count": 2, "price": 12.5}, read_plan(str(price)))
    assert again == {name: read_plan(str(price))[name] for name in ("goal", "parameters")} | {"steps": again["steps"]}
    assert again["steps"][1]["args"] == {"expression": "${steps.total} / 2"}


async def test_a_secret_default_of_a_saved_plan_is_not_written_again(home: Path) -> None:
    parts = {"password": {"type": "string", "default": "hunter2"}, "n": {"type": "number"}}
    step_ = step("s", "calculator", {"expression": "${steps.inputs.n} + 1"}, why="hunter2")
    plan = {"goal": "g", "parameters": {"type": "object", "properties": parts, "required": ["n"]}, "steps": [step_]}
    given = {"n": 1, "password": "hunter2"}
    again = saved(await run(plan, {"inputs": given}), given, read_plan(plan))
    assert "hunter2" not in json.dumps(again)
    assert again["parameters"]["properties"]["n"] == {"type": "number"} and again["parameters"]["required"] == ["n"]


def test_a_plan_with_a_tool_that_must_be_named_says_so_where_it_is_saved_and_where_it_is_run(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    orders = {"goal": "o", "steps": [step("s", "order_status", {"order": "AB123"})]}
    Path("o.json").write_text(json.dumps(orders))
    named = ["--set", "tools=standard,order_status"]
    assert execute(["run", "--plan", "o.json"]) == 11
    said = " ".join(capsys.readouterr().out.split())
    assert "the tool 'order_status' is not in use here: it is built in and in use only where" in said
    assert "tools=standard,order_status" in said
    assert execute(["run", "--plan", "o.json", "--thread", "o", *named]) == 0
    capsys.readouterr()
    assert execute(["save", "o", "-o", "again.yaml"]) == 0
    assert "it runs with these tools named: --set tools=standard,order_status" in capsys.readouterr().out
    assert execute(["run", "--plan", "again.yaml", *named]) == 0


def test_a_file_that_was_handed_in_is_a_parameter_too(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    Path("a.txt").write_text("one two three")
    Path("b.txt").write_text("one two")
    given = ["--model", "offline", "--inputs", '{"text": {"file": "a.txt"}}']
    assert execute(["run", "count the words of a.txt", "--thread", "a", *given]) == 0
    assert execute(["save", "a", "-o", "words.json"]) == 0
    capsys.readouterr()
    again = ["run", "--plan", "words.json", "--json"]
    execute(again)
    assert json.loads(capsys.readouterr().out)["answer"] == "3"
    execute([*again, "--inputs", '{"text": {"file": "b.txt"}}'])
    assert json.loads(capsys.readouterr().out)["answer"] == "2"


async def test_steps_in_words_of_plan_and_solve_are_not_saved(model_server: ModelServer) -> None:
    model_server.reply({"goal": "", "steps": ["Think."]}, "42")
    report = (await load("plan_and_solve").ainvoke({"task": "what is it?"}))["report"]
    with pytest.raises(InputError, match="solved in words by that pattern"):
        saved(report, {})
