"""ReAct: thought, action, observation in turns; an answer ends it (Yao et al. 2022, arXiv:2210.03629).

Thought and request are separate fields, and only the request runs. Two turns in a row that bring nothing new end it.
"""

from graphs._frame import add_execution, frame
from nodes.answerer import answer_given
from nodes.deciding import decide
from nodes.reasoner import think
from nodes.reasoning_stops import answered, brings_nothing
from nodes.routing import to_execute_or
from nodes.stopping import (
    budget_spent,
    held_for_person,
    in_trouble,
    input_missing,
    planned,
    rejected,
    too_many_rounds,
)  # fmt: skip

STOPS = (
    in_trouble, planned, answered, held_for_person, rejected, input_missing, budget_spent, too_many_rounds,
    brings_nothing,
)  # fmt: skip

builder = frame("react", decide(*STOPS), answer=answer_given)
builder.add_node("think", think())
add_execution(builder, planner="think", then="decide")

builder.add_edge("intake", "think")
builder.add_edge("think", "decide")
builder.add_conditional_edges("decide", to_execute_or("think"), ["execute", "think", "answer"])

graph = builder.compile(name="react")
