"""Plan-and-solve: a plan in words first, then a model solves each step from question, plan and earlier steps.

No tools; the last step gives the answer, so it takes one call more than there are steps
(Wang et al. 2023, arXiv:2305.04091).
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer_by_code
from nodes.deciding import decide
from nodes.outliner import outline
from nodes.routing import to_execute_or
from nodes.stopping import ONE_PLAN

builder = frame("plan_and_solve", decide(*ONE_PLAN), answer=answer_by_code)
add_planner(builder, "plan", outline)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("answer"), ["execute", "answer"])

graph = builder.compile(name="plan_and_solve")
