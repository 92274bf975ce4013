"""Auto: estimates what the task looks like, and goes on as the pattern that fits; the report says which, and why.

The patterns stand side by side in one graph, so that a run of one of them is what it would be there: it can be
watched, asked, killed, resumed, forked and undone in the same way.
"""

from collections.abc import Hashable

from graphs import one_shot, plan_act_reflect, plan_and_execute, rewoo, self_reflection, workflow
from graphs._frame import SHARED, begin
from nodes.choice import choose, to_chosen

LEAVES = {
    "workflow": workflow.builder,
    "one_shot": one_shot.builder,
    "plan_and_execute": plan_and_execute.builder,
    "rewoo": rewoo.builder,
    "self_reflection": self_reflection.builder,
    "plan_act_reflect": plan_act_reflect.builder,
}

builder = begin("auto")
builder.add_node("choose", choose)
entries: dict[Hashable, str] = {name: builder.include(leaf, f"{name}.", shared=SHARED) for name, leaf in LEAVES.items()}

builder.add_edge("intake", "choose")
builder.add_conditional_edges("choose", to_chosen, entries)

graph = builder.compile(name="auto")
