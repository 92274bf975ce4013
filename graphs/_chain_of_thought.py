"""Chain of thought: one call of a model that reasons before it answers; no plan, no tools (arXiv:2201.11903).

As a direct answer in everything else. A plain way to hold the patterns against.
"""

from graphs._direct import AFTER, BEFORE
from graphs._frame import add_drafts, add_execution, frame
from nodes.answerer import answer_best
from nodes.deciding import decide
from nodes.drafter import drafting
from nodes.prompts.plain import reasoned_messages
from nodes.routing import to_execute_or

builder = frame("chain_of_thought", decide(*BEFORE, grading_follows=True), wrap_up=answer_best)
add_drafts(builder, drafting(reasoned_messages, reasoned=True), decide(*AFTER))
add_execution(builder, planner="draft", then="decide")

builder.add_edge("intake", "draft")
builder.add_conditional_edges("decide", to_execute_or("review", stopped="wrap_up"), ["execute", "review", "wrap_up"])
builder.add_edge("judge", "wrap_up")

graph = builder.compile(name="chain_of_thought")
