"""Combined: ReAct with a final reflection, and rules that change the mode in mid-run.

A thought that names a condition and no call leads to a plan; a call that found nothing and no other way in mind leads
to a reflection. After either it goes on thinking. The answer is graded, and reflected on where it is not good enough.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer_best
from nodes.checker import grade_turns
from nodes.deciding import decide
from nodes.modes import (
    accepted_answer,
    by_mode,
    condition_named,
    gets_nowhere,
    no_mode_left,
    nothing_found,
    plan_for_turn,
)
from nodes.reasoner import think
from nodes.reflector import reflect, reflect_midway
from nodes.routing import to_execute_or, unless_in_trouble
from nodes.stopping import (
    budget_spent,
    held_for_person,
    in_conflict,
    in_trouble,
    input_missing,
    not_graded,
    out_of_attempts,
    planned,
    rejected,
    too_many_rounds,
)  # fmt: skip

BEFORE = (
    in_trouble, planned, held_for_person, rejected, input_missing, budget_spent, no_mode_left, gets_nowhere,
)  # fmt: skip
AFTER = (in_trouble, accepted_answer, not_graded, out_of_attempts, too_many_rounds, in_conflict)

builder = frame("combined", decide(*BEFORE, grading_follows=True), wrap_up=answer_best)
builder.add_node("think", think(nothing_found, condition_named))
add_planner(builder, "plan", plan_for_turn)
add_execution(builder)
add_check(builder)
builder.add_node("reflect_midway", reflect_midway)
builder.add_node("grade", grade_turns)
builder.add_node("review", decide(*AFTER))
builder.add_node("reflect", reflect)

builder.add_edge("intake", "think")
builder.add_edge("think", "decide")
builder.add_conditional_edges(
    "decide",
    by_mode(plan="plan", reflect="reflect_midway", finish="grade", stopped="wrap_up"),
    ["execute", "think", "plan", "reflect_midway", "grade", "wrap_up"],
)
builder.add_edge("grade", "review")
builder.add_conditional_edges("review", to_execute_or("reflect", stopped="wrap_up"), ["reflect", "execute", "wrap_up"])
for name in ("reflect", "reflect_midway"):
    builder.add_conditional_edges(name, unless_in_trouble("think", "decide"), ["think", "decide"])

graph = builder.compile(name="combined")
