"""What nodes read and write are channels of every graph that uses them: LangGraph drops a wrong key silently."""

import inspect
from typing import Any, get_type_hints

import pytest

import graphs
from state.channels import Input, State

ALL = (*graphs.names(), *graphs.plain_ways())


def functions(name: str) -> dict[str, Any]:
    """The functions behind the nodes and routers of a pattern."""
    builder = graphs.load(name).builder
    found = {node: spec.runnable.afunc or spec.runnable.func for node, spec in builder.nodes.items()}
    for start, branches in builder.branches.items():
        found |= {f"{start} -> {label}": branch.path.afunc or branch.path.func for label, branch in branches.items()}
    return found


def keys(hint: Any) -> set[str]:
    return set(get_type_hints(hint)) if hasattr(hint, "__required_keys__") else set()


@pytest.mark.parametrize("name", ALL)
def test_what_a_node_reads_and_writes_is_a_channel(name: str) -> None:
    channels = set(get_type_hints(State))
    managed = set(graphs.load(name).builder.managed)  # what LangGraph itself says of a run
    for node, function in functions(name).items():
        hints = get_type_hints(function)
        reads = keys(hints[next(iter(inspect.signature(function).parameters))])
        assert reads, f"{node} of {name} does not say which slice of state it reads"
        assert reads <= channels | managed, (
            f"{node} of {name} reads {reads - channels}, which is no channel of state/channels.py"
        )
        writes = keys(hints["return"])
        assert writes <= channels, f"{node} of {name} writes {writes - channels}, which is no channel"
        assert writes or "->" in node, f"{node} of {name} does not say which keys it writes"


@pytest.mark.parametrize("name", ALL)
def test_a_graph_has_the_declared_channels_and_no_other(name: str) -> None:
    graph = graphs.load(name)
    own = {key for key in graph.channels if not key.startswith(("__", "branch:"))} - set(graph.builder.managed)
    assert own == set(get_type_hints(State))
    assert graph.builder.input_schema is Input and set(get_type_hints(Input)) < own


@pytest.mark.parametrize("name", ALL)
def test_the_exported_graph_has_no_checkpointer_and_its_name(name: str) -> None:
    graph = graphs.load(name)
    assert graph.checkpointer is None
    assert graph.name == name
