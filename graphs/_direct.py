"""Direct answer: one call of a model, no plan, no tools. A plain way to hold the patterns against.

Conditions, a schema and tests are looked at once, by code; nothing is tried again.
"""

from graphs._frame import add_drafts, add_execution, frame
from nodes.answerer import answer_best
from nodes.deciding import decide
from nodes.draft_stops import not_reviewed, nothing_against, refuted
from nodes.drafter import drafting
from nodes.prompts.plain import direct_messages
from nodes.routing import to_execute_or
from nodes.stopping import budget_spent, held_for_person, in_trouble, planned, rejected

BEFORE = (in_trouble, planned, held_for_person, rejected, budget_spent)
AFTER = (in_trouble, nothing_against, not_reviewed, refuted)

builder = frame("direct", decide(*BEFORE, grading_follows=True), wrap_up=answer_best)
add_drafts(builder, drafting(direct_messages), decide(*AFTER))
add_execution(builder, planner="draft", then="decide")

builder.add_edge("intake", "draft")
builder.add_conditional_edges("decide", to_execute_or("review", stopped="wrap_up"), ["execute", "review", "wrap_up"])
builder.add_edge("judge", "wrap_up")

graph = builder.compile(name="direct")
