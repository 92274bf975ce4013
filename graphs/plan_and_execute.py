"""Plan-and-execute: plan, run, check, and plan anew only what is left (after Wang et al. 2023, arXiv:2305.04091).

Finished steps stay finished; it ends when the plan is done or a limit is hit.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer
from nodes.deciding import decide
from nodes.planner import plan, replan
from nodes.progress import no_new_evidence
from nodes.routing import to_execute_or
from nodes.stopping import (
    all_done,
    budget_spent,
    held_for_person,
    in_trouble,
    input_missing,
    out_of_replans,
    planned,
    rejected,
    too_many_rounds,
)  # fmt: skip

STOPS = (
    in_trouble, planned, all_done, held_for_person, rejected, input_missing, budget_spent, out_of_replans,
    too_many_rounds, no_new_evidence,
)  # fmt: skip

builder = frame("plan_and_execute", decide(*STOPS, replans=True), answer=answer)
add_planner(builder, "plan", plan)
add_planner(builder, "replan", replan)
add_execution(builder)
add_check(builder)

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_execute_or("replan", reviewed="replan"), ["execute", "replan", "answer"])

graph = builder.compile(name="plan_and_execute")
