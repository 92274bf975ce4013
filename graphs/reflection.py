"""Reflection: draft, critique on named dimensions, refine (Self-Refine, Madaan et al. 2023, arXiv:2303.17651).

Checks by code (conditions, schema, tests) come before the critic's opinion. It ends when there is nothing to improve,
or at the limit of reflections; the best draft that was reviewed is the answer.
"""

from graphs._frame import add_execution, frame
from nodes.answerer import answer_best
from nodes.critic import critique
from nodes.deciding import decide
from nodes.draft_stops import not_reviewed, nothing_to_improve
from nodes.drafter import draft, refine
from nodes.routing import to_execute_or
from nodes.stopping import budget_spent, held_for_person, in_trouble, out_of_reflections, planned, rejected

BEFORE = (in_trouble, planned, held_for_person, rejected, budget_spent)
AFTER = (in_trouble, nothing_to_improve, not_reviewed, out_of_reflections)

builder = frame("reflection", decide(*BEFORE, grading_follows=True), wrap_up=answer_best)
builder.add_node("draft", draft)
builder.add_node("refine", refine)
builder.add_node("critique", critique)
builder.add_node("review", decide(*AFTER))
add_execution(builder, planner="draft", then="decide")

builder.add_edge("intake", "draft")
builder.add_edge("draft", "decide")
builder.add_edge("refine", "decide")
builder.add_conditional_edges(
    "decide", to_execute_or("critique", stopped="wrap_up"), ["execute", "critique", "wrap_up"]
)
builder.add_edge("critique", "review")
builder.add_conditional_edges("review", to_execute_or("refine", stopped="wrap_up"), ["execute", "refine", "wrap_up"])

graph = builder.compile(name="reflection")
