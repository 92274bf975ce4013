"""Reads TaskBench's graphs: nodes that call a tool, links from tool to tool, `<node-0>` for a result (2311.18760).

Links name tools, so two nodes of one tool can't be told apart: that is a finding, as every other defect is.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from nodes.reading.objects import object_in
from nodes.reading.text_plan import Finding

_NODE = re.compile(r"<node-(\d+)>")


@dataclass(frozen=True)
class TaskGraph:
    """Tools in order of the nodes, their arguments as written, links by name, and what is wrong."""

    tools: tuple[str, ...]
    arguments: tuple[Any, ...]
    links: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]


def read_task_graph(text: str, tools: Collection[str] | None = None) -> TaskGraph:
    """The graph with its findings; `tools` are the ones that exist. Raises `ValueError` where there is no graph."""
    record = object_in(text)
    nodes = _listed(record, "task_nodes", "tool_nodes", "nodes")
    links = _listed(record, "task_links", "tool_links", "links")
    if nodes is None:
        raise ValueError("there is no list of nodes")
    named = [str(node.get("task") or node.get("tool") or node.get("name") or "") for node in nodes]
    ends = [(str(link.get("source", "")), str(link.get("target", ""))) for link in links or []]
    arguments = [node.get("arguments") for node in nodes]
    findings = (*_of_nodes(named, tools), *_of_links(named, ends), *_of_references(arguments))
    return TaskGraph(tuple(named), tuple(arguments), tuple(ends), findings)


def _listed(record: dict[str, Any], *keys: str) -> list[dict[str, Any]] | None:
    found = next((record[key] for key in keys if key in record), None)
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError("nodes and links must be lists of objects")
    return found


def _of_nodes(named: list[str], tools: Collection[str] | None) -> list[Finding]:
    findings = [] if named else [Finding("no_nodes", "there is no node")]
    findings += [
        Finding("node_without_tool", f"node {place} names no tool") for place, name in enumerate(named) if not name
    ]
    for name in dict.fromkeys(filter(None, named)):
        if named.count(name) > 1:
            findings.append(Finding("repeated_tool", f"{name} is in {named.count(name)} nodes, links can't say which"))
        if tools is not None and name not in tools:
            findings.append(Finding("unknown_tool", f"{name} is no tool"))
    return findings


def _of_links(named: list[str], links: list[tuple[str, str]]) -> list[Finding]:
    findings = []
    for source, target in links:
        if source not in named:
            findings.append(Finding("link_unknown_source", f"a link begins at {source!r}, which is no node"))
        if target not in named:
            findings.append(Finding("link_unknown_target", f"a link ends at {target!r}, which is no node"))
        if source == target:
            findings.append(Finding("self_link", f"a link leads from {source!r} to itself"))
    if cycle := _cycle(links):
        findings.append(Finding("cycle", " -> ".join(cycle)))
    return findings


def _cycle(links: list[tuple[str, str]]) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, target in links:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _of_references(arguments: list[Any]) -> list[Finding]:
    findings = []
    for place, given in enumerate(arguments):
        for found in map(int, _NODE.findall(str(given))):
            if found == place:
                findings.append(Finding("self_ref", f"node {place} refers to its own result"))
            elif found >= len(arguments):
                findings.append(Finding("ref_unknown_node", f"node {place} refers to node {found}, which is not there"))
    return findings
