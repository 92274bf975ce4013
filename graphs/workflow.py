"""Workflow: a saved plan with parameters runs as it stands, with no planning call.

A model is asked only by tools that need one, and where a step has criteria in words; the answer is what the last
steps gave.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer_by_code
from nodes.deciding import decide
from nodes.fixed_plan import plan_from_file
from nodes.routing import to_execute_or
from nodes.stopping import ONE_PLAN

builder = frame("workflow", decide(*ONE_PLAN), answer=answer_by_code)
add_planner(builder, "plan", plan_from_file)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("answer"), ["execute", "answer"])

graph = builder.compile(name="workflow")
