"""Retry: tries again from nothing until the checker passes it; told neither what was tried nor what was wrong with it.

With tools a plan, its answer and the grading of self_reflection; without, or where the answer itself has to pass
conditions or tests, a draft. At most as many attempts as there. A plain way to hold the patterns against.
"""

from collections.abc import Hashable

from graphs._direct import BEFORE as BEFORE_REVIEW
from graphs._frame import SHARED, add_check, add_drafts, add_execution, add_planner, begin, frame
from graphs.self_reflection import BEFORE
from nodes.answerer import answer, answer_best
from nodes.checker import grade
from nodes.deciding import decide
from nodes.draft_stops import not_reviewed, nothing_against
from nodes.drafter import drafting
from nodes.planner import plan
from nodes.progress import no_new_evidence
from nodes.prompts.plain import direct_messages
from nodes.retrying import attempts_used, plan_anew, to_plan_or_draft
from nodes.routing import to_execute_or, to_grading
from nodes.stopping import accepted, in_trouble, not_graded, out_of_replans, too_many_rounds

AFTER = (in_trouble, accepted, not_graded, attempts_used, out_of_replans, too_many_rounds, no_new_evidence)
AFTER_REVIEW = (in_trouble, nothing_against, not_reviewed, attempts_used)

plans = frame("retry", decide(*BEFORE, grading_follows=True), wrap_up=answer_best)
add_planner(plans, "plan", plan)
add_planner(plans, "again", plan_anew)
add_execution(plans)
add_check(plans)
plans.add_node("answer", answer)
plans.add_node("grade", grade)
plans.add_node("review", decide(*AFTER))

plans.add_edge("intake", "plan")
plans.add_conditional_edges(
    "decide",
    to_grading("answer", "grade", stopped="wrap_up", reviewed="again"),
    ["execute", "answer", "grade", "again", "wrap_up"],
)
plans.add_edge("answer", "grade")
plans.add_edge("grade", "review")
plans.add_conditional_edges("review", to_execute_or("again", stopped="wrap_up"), ["again", "execute", "wrap_up"])

drafts = frame("retry", decide(*BEFORE_REVIEW, grading_follows=True), wrap_up=answer_best)
add_drafts(drafts, drafting(direct_messages), decide(*AFTER_REVIEW))
add_execution(drafts, planner="draft", then="decide")

drafts.add_edge("intake", "draft")
drafts.add_conditional_edges("decide", to_execute_or("review", stopped="wrap_up"), ["execute", "review", "wrap_up"])
drafts.add_conditional_edges("judge", to_execute_or("draft", stopped="wrap_up"), ["draft", "execute", "wrap_up"])

builder = begin("retry")
entries: dict[Hashable, str] = {
    name: builder.include(way, f"{name}.", shared=SHARED) for name, way in (("plan", plans), ("draft", drafts))
}
builder.add_conditional_edges("intake", to_plan_or_draft, entries)

graph = builder.compile(name="retry")
