"""A graph that is none of ours, on the same server: it keeps anything under the names that our runs have."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


class Anything(TypedDict, total=False):
    """No run wrote it, so nothing holds it to a form."""

    request: Any
    plans: Any
    results: Any
    events: Any
    report: Any


def _conclude(state: Anything) -> dict[str, Any]:
    return {}


builder = StateGraph(Anything)
builder.add_node("conclude", _conclude)
builder.add_edge(START, "conclude")
builder.add_edge("conclude", END)
graph = builder.compile()
