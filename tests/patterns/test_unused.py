"""A setting that a pattern has no use for is never silently ignored: a note in the report, or a mistake in the call."""

import sys
from pathlib import Path
from typing import Any

import pytest

import graphs
from nodes.models import models_for as all_models_for
from nodes.unused import AUTO, CHOOSING, EVERY, MUST, USED_BY, asked, check_asked, unused
from state.context import ROLES, Context, make_context
from state.errors import InputError
from tests.support.model_server import ModelServer
from tests.support.runs import critique, drafted, grade, look, plan, says, step, turn
from tests.support.script import Reply

ROOT = Path(__file__).parent.parent.parent
SET: dict[str, Any] = {
    "plan": {"goal": "g", "steps": [{"id": "s", "tool": "calculator", "args": {"expression": "1"}}]},
    "workflows": ".", "accept": ["len(answer) > 0"], "tests": ["assert 1"], "dimensions": ["brevity"],
    "self_critique": True, "reflect": "batch", "stream_plan": True, "check_after": "step", "retrieve": 3,
    "lesson_scope": ["pattern"], "lessons": "off", "lesson_days": 3.0, "lesson_tags": ["a"], "tenant": "a",
    "embedder": "e", "tools": ["calculator"], "documents": ".", "smtp": "smtp://localhost", "private_hosts": ["h"],
    "sql": "a.db", "sql_destructive": True, "writes": "allow", "untrusted_writes": "forbid", "lease": 3.0,
    **dict.fromkeys(ROLES[:4], "scripted"),
}  # fmt: skip
"""Each setting of the table with a value that somebody gave."""


def said(context: Context, pattern: str) -> str:
    """What is said of the settings, in the report or in place of one."""
    try:
        check_asked(context, pattern)
    except InputError as error:
        return str(error)
    request: Any = {"pattern": pattern, "asked": asked(context)}
    return "\n".join(unused(request))


@pytest.mark.parametrize("pattern", sorted(EVERY))
def test_a_setting_is_said_exactly_where_it_is_not_used(pattern: str) -> None:
    assert said(Context(), pattern) == ""
    for name in Context.model_fields:
        context = make_context(**({name: SET[name]} if name in SET else {}))
        told = f"setting {name}" in said(context, pattern)
        assert told == (name in USED_BY and pattern not in USED_BY[name]), name


@pytest.mark.parametrize("pattern", sorted(EVERY))
def test_what_is_set_for_a_role_that_a_pattern_does_not_have_is_said(pattern: str) -> None:
    for role in ROLES:
        for given in ({f"{role}_prompt": "x"}, {"sampling": {role: {"seed": 1}}}, {"prompts": {role: {"add": "x"}}}):
            told = said(make_context(**given), pattern)
            assert (role in told) == (role in USED_BY and pattern not in USED_BY[role]), given


def test_the_tables_name_settings_and_patterns_that_there_are() -> None:
    assert USED_BY.keys() == SET.keys() and USED_BY.keys() <= Context.model_fields.keys()
    assert set(graphs.names()) == EVERY | {AUTO} and {*MUST, *CHOOSING} <= USED_BY.keys()


def test_the_page_on_settings_has_the_table() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    head, _, *body = rows
    assert {
        row[0]: frozenset(one for one, cell in zip(head, row, strict=True) if cell == "yes") for row in body
    } == USED_BY
    assert head[1:] == [name for name in graphs.names() if name != AUTO]


@pytest.mark.parametrize("name", MUST)
def test_what_asks_for_a_check_that_is_not_made_is_a_mistake_in_the_call(name: str, model_server: ModelServer) -> None:
    with pytest.raises(InputError, match=rf"the pattern one_shot .*setting {name}.* is for (auto|reflection)"):
        graphs.load("one_shot", context={name: SET[name]}).invoke({"task": "1 + 1"})


def test_auto_is_told_by_what_it_chose(model_server: ModelServer) -> None:
    chosen = {"steps": 1, "dependent": False, "expandable": True, "vague": False, "writes": False}
    model_server.reply(Reply(chosen, schema="features"), plan(step("s", "calculator", expression="1 + 1")))
    context = {"reflect": "batch", "retrieve": 9, "planner_prompt": "x", "dimensions": ["brevity"]}
    notes = graphs.load("auto", context=context).invoke({"task": "1 + 1"})["report"]["notes"]
    told = [note for note in notes if "was not used" in note]
    assert [note.split()[2] for note in told] == ["dimensions", "reflect"]
    assert all("one_shot, which auto chose" in note for note in told)


# ---- the table is true: what it says is not used is never looked at


SUM = step("s", "calculator", expression="1 + 1", more={"criteria": ["it is a sum"]})
_CHECK = {"criterion": "it is a sum", "outcome": "passed", "evidence": "2"}
JUDGED = Reply({"checks": [_CHECK]}, schema="judge", when="Role: checker")
TURN = turn("", "calculator", expression="1 + 1")
RUNS: dict[str, list[Reply]] = {
    "one_shot": [plan(SUM), JUDGED],
    "plan_and_execute": [plan(SUM), JUDGED, says("2")],
    "self_reflection": [plan(SUM), JUDGED, says("2"), grade()],
    "rewoo": [plan(SUM), JUDGED, says("2")],
    "react": [TURN, turn(answer="2")],
    "plan_and_solve": [Reply({"steps": ["Think."]}, schema="outline"), Reply("2")],
    "reflection": [drafted("two"), critique()],
    "workflow": [],
    "plan_act_reflect": [plan(SUM), JUDGED, look(), says("2")],
    "combined": [TURN, turn(answer="2"), grade()],
}
ALWAYS = ("intake", "run", "stricter", "frame", "unused", "beginning", "models", "settings", "learning", "fixed_plan")
"""Modules that look at settings to check, freeze or report them."""
WITHOUT_EFFECT = {
    ("plan_and_solve", "retrieve"): "it has one tool",
    ("plan_and_solve", "untrusted_writes"): "no step changes anything",
}


@pytest.mark.parametrize("pattern", sorted(EVERY))
def test_what_a_pattern_is_said_not_to_use_it_never_looks_at(
    pattern: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, roles = set[str](), set[str]()

    def look_at(self: Context, name: str) -> Any:
        frame = sys._getframe(1)
        path = Path(frame.f_code.co_filename)
        if name in USED_BY and path.parent.name == "nodes" and path.stem not in ALWAYS:
            looked.add(name)
        return object.__getattribute__(self, name)

    async def models_for(role: str, run: Any) -> Any:
        roles.add(role)
        return await all_models_for(role, run)

    monkeypatch.setattr("nodes.ask.models_for", models_for)
    monkeypatch.setattr(Context, "__getattribute__", look_at)
    model_server.reply(*RUNS[pattern])
    context = {"plan": SET["plan"]} if pattern == "workflow" else {}
    context |= {"checker": "critic-model"} if pattern == "reflection" else {}
    report = graphs.load(pattern, context=context).invoke({"task": "1 + 1"})["report"]
    assert report["stop"]["reason"] == "done"
    known = set(USED_BY) - set(ROLES)
    unlike = [name for name in looked & known if pattern not in USED_BY[name]]
    assert not [name for name in unlike if (pattern, name) not in WITHOUT_EFFECT]
    assert not [role for role in roles & set(USED_BY) if pattern not in USED_BY[role]]
