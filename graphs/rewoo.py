"""ReWOO: all calls planned ahead with references to evidence, run without further planning, then one solver call.

Two model calls however many tools (Xu et al. 2023, arXiv:2305.18323).
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer
from nodes.deciding import decide
from nodes.planner import plan_with_evidence
from nodes.routing import to_execute_or
from nodes.stopping import ONE_PLAN

builder = frame("rewoo", decide(*ONE_PLAN), solve=answer)
add_planner(builder, "plan", plan_with_evidence)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("solve", stopped="solve"), ["execute", "solve"])

graph = builder.compile(name="rewoo")
