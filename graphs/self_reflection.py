"""Self-reflection: plan, run, answer, grade on completeness, accuracy and quality, reflect, try again with the lesson.

Pass needs 7 of 10 in each; at most 3 attempts; the task itself is never
rewritten (Shinn et al. 2023, arXiv:2303.11366).
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer, answer_best
from nodes.checker import grade
from nodes.deciding import decide
from nodes.planner import plan, replan
from nodes.progress import no_new_evidence
from nodes.reflector import reflect
from nodes.routing import to_execute_or, to_grading, unless_in_trouble
from nodes.stopping import (
    accepted,
    budget_spent,
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

BEFORE = (in_trouble, planned, held_for_person, rejected, input_missing, budget_spent, rounds_over_midway)
AFTER = (
    in_trouble, accepted, not_graded, out_of_attempts, out_of_replans, too_many_rounds, no_new_evidence,
)  # fmt: skip

builder = frame("self_reflection", decide(*BEFORE, grading_follows=True, replans=True), wrap_up=answer_best)
add_planner(builder, "plan", plan)
add_planner(builder, "replan", replan)
add_execution(builder)
add_check(builder)
builder.add_node("answer", answer)
builder.add_node("grade", grade)
builder.add_node("review", decide(*AFTER))
builder.add_node("reflect", reflect)

builder.add_edge("intake", "plan")
builder.add_conditional_edges(
    "decide",
    to_grading("answer", "grade", stopped="wrap_up", reviewed="replan"),
    ["execute", "answer", "grade", "replan", "wrap_up"],
)
builder.add_edge("answer", "grade")
builder.add_edge("grade", "review")
builder.add_conditional_edges("review", to_execute_or("reflect", stopped="wrap_up"), ["reflect", "execute", "wrap_up"])
builder.add_conditional_edges("reflect", unless_in_trouble("replan", "decide"), ["replan", "decide"])

graph = builder.compile(name="self_reflection")
