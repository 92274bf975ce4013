"""Plan-act-reflect: planner, actor, reflector; the setting `reflect` says when the reflector looks.

step: after each step; batch: after the whole round; critical: at critical steps only, which is plan-and-execute with
reflection at key steps. Checks and statuses come first, and no look overrules them.
"""

from graphs._frame import add_check, add_execution, add_planner, frame
from nodes.answerer import answer
from nodes.deciding import decide
from nodes.planner import plan, replan
from nodes.progress import no_new_evidence
from nodes.reflection_stops import done_and_looked_at, finished_early, no_reflection_left
from nodes.reflector import look_back
from nodes.routing import after_look, to_look
from nodes.stopping import (
    budget_spent,
    held_for_person,
    in_trouble,
    input_missing,
    out_of_replans,
    planned,
    rejected,
    rounds_over_midway,
    too_many_rounds,
)  # fmt: skip

BEFORE = (in_trouble, planned, held_for_person, rejected, input_missing, budget_spent, rounds_over_midway)
AFTER = (
    in_trouble, done_and_looked_at, finished_early, no_reflection_left, out_of_replans, too_many_rounds,
    no_new_evidence,
)  # fmt: skip

builder = frame("plan_act_reflect", decide(*BEFORE, grading_follows=True, replans=True), answer=answer)
add_planner(builder, "plan", plan)
add_planner(builder, "replan", replan)
add_execution(builder)
add_check(builder)
builder.add_node("reflect", look_back)
builder.add_node("review", decide(*AFTER))

builder.add_edge("intake", "plan")
builder.add_conditional_edges("decide", to_look("reflect"), ["execute", "reflect", "replan", "answer"])
builder.add_edge("reflect", "review")
builder.add_conditional_edges("review", after_look("replan"), ["execute", "replan", "answer"])

graph = builder.compile(name="plan_act_reflect")
