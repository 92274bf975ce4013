"""One-shot: one planning call, then every step in dependency order. Nothing is planned again.

The answer is what the last steps gave; a step that fails blocks only what depends on it.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer_by_code
from nodes.planner import plan
from nodes.routing import to_execute_or
from nodes.stopping import (
    all_done,
    budget_spent,
    decide,
    held_for_person,
    in_conflict,
    in_trouble,
    input_missing,
    planned,
    rejected,
    steps_failed,
    too_many_rounds,
)  # fmt: skip

STOPS = (
    in_trouble, planned, in_conflict, all_done, held_for_person, rejected, input_missing, budget_spent, steps_failed,
    too_many_rounds,
)  # fmt: skip

builder = frame("one_shot", decide(*STOPS), answer=answer_by_code)
add_planner(builder, "plan", plan)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("answer"), ["execute", "answer"])

graph = builder.compile(name="one_shot")
