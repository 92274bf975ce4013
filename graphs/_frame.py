"""What every pattern has around its own nodes: intake, execution with its questions to people, answer, report, undo.

A pattern adds what makes it that pattern: who plans, where the decision leads, and what follows a round.
"""

from typing import Any

from langgraph.graph import END, START

from graphs._bridge import Builder
from nodes.agreement import after_agree, agree
from nodes.approver import after_approve, after_check, after_execute, after_plan, approve, pause, to_people
from nodes.checker import check
from nodes.critic import check_draft
from nodes.executor import execute
from nodes.intake import intake
from nodes.reporting import conclude
from nodes.undoing import after_conclude, undo
from state.channels import Input, State
from state.context import Context

PLANNER = "plan"
"""The node that a person's word about a plan goes back to."""


SHARED = ("intake", "conclude", "offer_undo", "undo")
"""The nodes that are the same in every pattern, whatever stands between them."""


def begin(pattern: str) -> Builder:
    """A builder with how every pattern begins and ends."""
    builder = Builder(State, input_schema=Input, context_schema=Context)
    builder.add_node("intake", intake(pattern))
    builder.add_node("conclude", conclude)
    builder.add_node("offer_undo", approve)
    builder.add_node("undo", undo)
    builder.add_edge(START, "intake")
    builder.add_conditional_edges("conclude", after_conclude, ["offer_undo", END])
    builder.add_edge("offer_undo", "undo")
    builder.add_edge("undo", "conclude")
    return builder


def frame(pattern: str, decide: Any, **last: Any) -> Builder:
    """A builder with everything but the pattern's own; `last` is the node that gives the answer, by its name."""
    [(name, answer)] = last.items()
    builder = begin(pattern)
    builder.add_node("decide", decide)
    builder.add_node(name, answer)
    builder.add_edge(name, "conclude")
    return builder


def add_planner(builder: Builder, name: str, planner: Any) -> None:
    """A node that writes a plan, after which a person may be asked, else the decision is due."""
    builder.add_node(name, planner)
    builder.add_conditional_edges(name, after_plan, ["pause", "decide"])


def add_check(builder: Builder) -> None:
    """The check of what ran, after which a person may be asked, else the decision is due."""
    builder.add_node("check", check)
    builder.add_conditional_edges("check", after_check, ["pause", "decide"])


def add_execution(builder: Builder, *, planner: str = PLANNER, then: str = "check") -> None:
    """The executor, with people asked before and in between; after a round it goes on to `then`."""
    builder.add_node("execute", execute)
    builder.add_node("pause", pause)
    builder.add_node("approve", approve)
    builder.add_node("agree", agree)
    builder.add_conditional_edges("execute", after_execute, {"pause": "pause", "check": then})
    builder.add_conditional_edges("pause", to_people, ["approve", "agree"])
    builder.add_conditional_edges("approve", after_approve, {"execute": "execute", "plan": planner})
    builder.add_conditional_edges("agree", after_agree, {"execute": "execute", "plan": planner, "decide": "decide"})


def add_drafts(builder: Builder, draft: Any, judge: Any) -> None:
    """A node that writes a whole draft, its tests if there are any, and what code says of it; then `judge`."""
    builder.add_node("draft", draft)
    builder.add_node("review", check_draft)
    builder.add_node("judge", judge)
    builder.add_edge("draft", "decide")
    builder.add_edge("review", "judge")
