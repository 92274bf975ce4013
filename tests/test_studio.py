"""What Studio, chat UIs and inboxes read: schemas, nodes, messages, requests to people, and states that are edited."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest, HITLResponse
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import TypeAdapter

import graphs
from nodes.reporting import as_message
from state.channels import State
from state.context import ROLES, make_context
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.runs import plan, says, step

SUM = "add 17 and 25, then multiply it by 3"
THREAD: Any = {"configurable": {"thread_id": "t"}}


@pytest.mark.parametrize("name", graphs.names())
def test_a_form_has_one_field_and_every_node_says_what_it_does(name: str) -> None:
    graph = graphs.load(name)
    assert list(graph.get_input_jsonschema()["properties"]) == ["task"]
    said = {node: (spec.metadata or {}).get("description") for node, spec in graph.builder.nodes.items()}
    assert all(text and text.endswith(".") for text in said.values()), said


@pytest.mark.parametrize("name", graphs.names())
def test_settings_of_a_role_are_shown_at_nodes_that_the_graph_has(name: str) -> None:
    graph = graphs.load(name)
    shown = (graph.get_context_jsonschema() or {})["properties"]
    nodes = {role: shown[role]["langgraph_nodes"] for role in ROLES}
    assert all(set(found) <= set(graph.nodes) for found in nodes.values())
    assert nodes["answerer"] and any(nodes[role] for role in ROLES if role != "answerer")
    for role in ROLES:
        prompt = shown[f"{role}_prompt"]
        assert prompt["langgraph_type"] == "prompt" and prompt["langgraph_nodes"] == nodes[role]


def test_what_is_added_to_a_prompt_in_the_editor_follows_what_the_setting_prompts_adds() -> None:
    context = make_context(planner_prompt="second", prompts={"planner": {"add": "first"}, "checker": {"replace": "x"}})
    planner, checker = context.prompt_of("planner"), context.prompt_of("checker")
    assert planner is not None and (planner.replace, planner.add) == (None, "first\nsecond")
    assert checker is not None and (checker.replace, checker.add) == ("x", None)
    assert context.prompt_of("answerer") is None


def test_a_text_in_the_editor_reaches_the_model_of_that_role(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    model_server.reply(plan(step("a", "calculator", expression="1 + 1")), says("2"))
    context = {"planner_prompt": "Prefer {few} steps.", "answerer_prompt": "Be brief."}
    graphs.load("plan_and_execute", context=context).invoke({"task": "x"})
    asked = [request["messages"][0]["content"] for request in model_server.requests]
    assert ["Prefer {few} steps." in text for text in asked] == [True, False]
    assert ["Be brief." in text for text in asked] == [False, True]


def test_a_chat_message_is_the_task_and_the_report_answers_it() -> None:
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver())
    state = graph.invoke(
        {"messages": [{"role": "user", "content": [{"type": "text", "text": SUM}], "id": "u1"}]}, THREAD
    )
    asked, answered = state["messages"]
    assert (asked["type"], asked["content"], asked["id"]) == ("human", SUM, "u1")
    assert (answered["type"], "126" in answered["content"]) == ("ai", True)
    assert state["report"]["task"] == SUM
    state = graph.invoke({"messages": [HumanMessage("what is 2 * 4?")]}, THREAD)
    assert [one["type"] for one in state["messages"]] == ["human", "ai", "human", "ai"]
    assert state["report"]["task"] == "what is 2 * 4?" and "8" in state["messages"][-1]["content"]
    state = graph.invoke({"task": SUM}, THREAD)
    assert state["messages"][-2]["content"] == SUM and len(state["messages"]) == 6


def test_a_run_that_waits_says_so_and_its_end_takes_that_messages_place(tmp_path: Path) -> None:
    graph = graphs.load("one_shot", checkpointer=InMemorySaver(), context={"root": str(tmp_path)})
    state = graph.invoke({"task": "write 'hello' to a.txt"}, THREAD)
    assert "needs_approval" in state["messages"][-1]["content"] and len(state["messages"]) == 2
    [ask] = state["__interrupt__"]
    state = graph.invoke(Command(resume={ask.id: {"type": "approve"}}), THREAD)
    assert len(state["messages"]) == 2 and "needs_approval" not in state["messages"][-1]["content"]


def test_a_pattern_is_a_node_of_a_chat_graph() -> None:
    parent = StateGraph(MessagesState)
    parent.add_node("plan", graphs.load("one_shot"))
    parent.add_edge(START, "plan")
    parent.add_edge("plan", END)
    said = parent.compile().invoke({"messages": [HumanMessage(SUM)]})["messages"]
    assert [one.type for one in said] == ["human", "ai"] and "126" in said[-1].content


@pytest.mark.parametrize(
    ("messages", "right"),
    [
        ([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}], "only text is read"),
        ([{"nothing": 1}], "is no message"),
        ([{"role": "assistant", "content": "hello"}], "task"),
        ([{"role": "user", "content": " "}], "task is empty"),
    ],
)
def test_messages_that_hold_no_task_are_refused_with_what_would_be_right(messages: Any, right: str) -> None:
    with pytest.raises(InputError, match=right):
        graphs.load("one_shot").invoke({"messages": messages})


def test_a_report_of_a_run_that_failed_says_in_the_chat_why_and_what_is_missing() -> None:
    report = graphs.load("one_shot").invoke({"task": "read nothing.txt"})["report"]
    said = as_message(report)["content"]
    assert report["stop"]["message"] in said and all(line in said for line in report["missing"])


@pytest.fixture
def waiting(tmp_path: Path) -> Any:
    """A graph whose run waits before a write, with everything in its state."""
    (tmp_path / "a.txt").write_text("one two three")
    context = {"root": str(tmp_path), "check_after": "step"}
    graph = graphs.load("plan_and_execute", checkpointer=InMemorySaver(), context=context)
    graph.invoke({"task": "count the words of a.txt, then write the result to b.txt"}, THREAD)
    return graph


@pytest.mark.parametrize("form", ["decisions", "decision", "by id"])
def test_requests_to_people_have_the_published_form_and_take_its_answers(
    waiting: Any, tmp_path: Path, form: str
) -> None:
    [ask] = waiting.get_state(THREAD).interrupts
    known = {name: ask.value[name] for name in HITLRequest.__annotations__}
    assert TypeAdapter(HITLRequest).validate_python(known) == known
    decisions: HITLResponse = {"decisions": [{"type": "approve"}]}
    [decision] = decisions["decisions"]
    resume = {"decisions": decisions, "decision": decision, "by id": {ask.id: decision}}[form]
    assert waiting.invoke(Command(resume=resume), THREAD)["report"]["stop"]["reason"] == "done"
    assert (tmp_path / "b.txt").exists()


def test_every_record_of_a_state_comes_back_from_json_and_an_edit_of_it_changes_nothing_else(waiting: Any) -> None:
    before = waiting.get_state(THREAD)
    for key in set(State.__annotations__) & set(before.values):
        given = json.loads(json.dumps(before.values[key]))
        if key != "counts":  # adds up
            fork = waiting.update_state(before.config, {key: given}, as_node=before.metadata.get("source") and "decide")
            assert waiting.get_state(fork).values == before.values, key


def test_a_plan_that_was_edited_as_json_is_what_the_fork_runs(waiting: Any, tmp_path: Path) -> None:
    state = next(one for one in waiting.get_state_history(THREAD) if one.next == ("execute",))
    plans = json.loads(json.dumps(state.values["plans"]))
    write = next(step for step in plans[-1]["steps"] if step["effect"] == "write")
    write["args"]["path"] = "c.txt"
    fork = waiting.update_state(state.config, {"plans": plans}, as_node="decide")
    [ask] = waiting.invoke(None, fork)["__interrupt__"]
    end = waiting.invoke(Command(resume={ask.id: {"type": "approve"}}), THREAD)
    assert end["report"]["stop"]["reason"] == "done", end["report"]["stop"]
    assert (tmp_path / "c.txt").exists() and not (tmp_path / "b.txt").exists()
