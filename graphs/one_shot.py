"""One-shot: one planning call, then every step in dependency order. Nothing is planned again.

The answer is what the last steps gave; a step that fails blocks only what depends on it.
"""

from langgraph.graph import END, START

from graphs._bridge import Builder
from nodes.agreement import after_agree, agree
from nodes.answerer import answer_by_code
from nodes.approver import after_approve, after_check, after_execute, after_plan, approve, pause, to_people
from nodes.checker import check
from nodes.executor import execute
from nodes.intake import intake
from nodes.planner import plan
from nodes.reporting import conclude
from nodes.routing import to_execute_or
from nodes.stopping import (
    all_done,
    budget_spent,
    decide,
    held_for_person,
    in_trouble,
    input_missing,
    planned,
    rejected,
    steps_failed,
    too_many_rounds,
)  # fmt: skip
from nodes.undoing import after_conclude, undo
from state.channels import Input, State
from state.context import Context

STOPS = (
    in_trouble, planned, all_done, held_for_person, rejected, input_missing, budget_spent, steps_failed,
    too_many_rounds,
)  # fmt: skip

builder = Builder(State, input_schema=Input, context_schema=Context)
builder.add_node("intake", intake("one_shot"))
builder.add_node("plan", plan)
builder.add_node("decide", decide(*STOPS))
builder.add_node("execute", execute)
builder.add_node("pause", pause)
builder.add_node("approve", approve)
builder.add_node("agree", agree)
builder.add_node("check", check)
builder.add_node("answer", answer_by_code)
builder.add_node("conclude", conclude)
builder.add_node("offer_undo", approve)
builder.add_node("undo", undo)

builder.add_edge(START, "intake")
builder.add_edge("intake", "plan")
builder.add_conditional_edges("plan", after_plan, ["pause", "decide"])
builder.add_conditional_edges("decide", to_execute_or("answer"), ["execute", "answer"])
builder.add_conditional_edges("execute", after_execute, ["pause", "check"])
builder.add_conditional_edges("pause", to_people, ["approve", "agree"])
builder.add_conditional_edges("approve", after_approve, ["execute", "plan"])
builder.add_conditional_edges("agree", after_agree, ["execute", "plan", "decide"])
builder.add_conditional_edges("check", after_check, ["pause", "decide"])
builder.add_edge("answer", "conclude")
builder.add_conditional_edges("conclude", after_conclude, ["offer_undo", END])
builder.add_edge("offer_undo", "undo")
builder.add_edge("undo", "conclude")

graph = builder.compile(name="one_shot")
