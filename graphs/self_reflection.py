"""Self-reflection: plan, run, answer, grade on completeness, accuracy and quality, reflect, try again with the lesson.

Pass needs 7 of 10 in each; at most 3 attempts; the task itself is never
rewritten (Shinn et al. 2023, arXiv:2303.11366).
"""

from langgraph.graph import END, START

from graphs._bridge import Builder
from nodes.agreement import after_agree, agree
from nodes.answerer import answer, answer_best
from nodes.approver import after_approve, after_check, after_execute, after_plan, approve, pause, to_people
from nodes.checker import check, grade
from nodes.executor import execute
from nodes.intake import intake
from nodes.planner import plan, replan
from nodes.progress import no_new_evidence
from nodes.reflector import reflect
from nodes.reporting import conclude
from nodes.routing import to_execute_or, to_grading, unless_in_trouble
from nodes.stopping import (
    accepted,
    budget_spent,
    decide,
    held_for_person,
    in_trouble,
    input_missing,
    not_graded,
    out_of_attempts,
    out_of_replans,
    planned,
    rejected,
    rounds_over_midway,
    too_many_rounds,
)  # fmt: skip
from nodes.undoing import after_conclude, undo
from state.channels import Input, State
from state.context import Context

BEFORE = (in_trouble, planned, held_for_person, rejected, input_missing, budget_spent, rounds_over_midway)
AFTER = (
    in_trouble, accepted, not_graded, out_of_attempts, out_of_replans, too_many_rounds, no_new_evidence,
)  # fmt: skip

builder = Builder(State, input_schema=Input, context_schema=Context)
builder.add_node("intake", intake("self_reflection"))
builder.add_node("plan", plan)
builder.add_node("decide", decide(*BEFORE, grading_follows=True, replans=True))
builder.add_node("execute", execute)
builder.add_node("pause", pause)
builder.add_node("approve", approve)
builder.add_node("agree", agree)
builder.add_node("check", check)
builder.add_node("answer", answer)
builder.add_node("grade", grade)
builder.add_node("review", decide(*AFTER))
builder.add_node("reflect", reflect)
builder.add_node("replan", replan)
builder.add_node("wrap_up", answer_best)
builder.add_node("conclude", conclude)
builder.add_node("offer_undo", approve)
builder.add_node("undo", undo)

builder.add_edge(START, "intake")
builder.add_edge("intake", "plan")
builder.add_conditional_edges("plan", after_plan, ["pause", "decide"])
builder.add_conditional_edges(
    "decide",
    to_grading("answer", "grade", stopped="wrap_up", reviewed="replan"),
    ["execute", "answer", "grade", "replan", "wrap_up"],
)
builder.add_conditional_edges("execute", after_execute, ["pause", "check"])
builder.add_conditional_edges("pause", to_people, ["approve", "agree"])
builder.add_conditional_edges("approve", after_approve, ["execute", "plan"])
builder.add_conditional_edges("agree", after_agree, ["execute", "plan", "decide"])
builder.add_conditional_edges("check", after_check, ["pause", "decide"])
builder.add_edge("answer", "grade")
builder.add_edge("grade", "review")
builder.add_conditional_edges("review", to_execute_or("reflect", stopped="wrap_up"), ["reflect", "execute", "wrap_up"])
builder.add_conditional_edges("reflect", unless_in_trouble("replan", "decide"), ["replan", "decide"])
builder.add_conditional_edges("replan", after_plan, ["pause", "decide"])
builder.add_edge("wrap_up", "conclude")
builder.add_conditional_edges("conclude", after_conclude, ["offer_undo", END])
builder.add_edge("offer_undo", "undo")
builder.add_edge("undo", "conclude")

graph = builder.compile(name="self_reflection")
