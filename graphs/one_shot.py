"""One-shot: one planning call, then every step in dependency order. Nothing is planned again.

The answer is what the last steps gave; a step that fails blocks only what depends on it.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer_by_code
from nodes.deciding import decide
from nodes.planner import plan
from nodes.routing import to_execute_or
from nodes.stopping import ONE_PLAN

builder = frame("one_shot", decide(*ONE_PLAN), answer=answer_by_code)
add_planner(builder, "plan", plan)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("answer"), ["execute", "answer"])

graph = builder.compile(name="one_shot")
