"""What a picture shows, whatever its format: boxes with words, lines between them, and how each came out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphs._watch import STATES, Watch
from graphs._words import as_json, count, one_line
from state.conditions import step_ids
from state.plan import Plan, Step, needs, step_hash
from state.references import references
from state.report import Report
from state.result import Result, why


@dataclass(frozen=True)
class Look:
    """How a state is shown: colours on light and on dark, dashes of the frame, and a sign drawn in 12 x 12."""

    light: str
    dark: str
    dashes: str
    sign: str


LOOKS = {
    "done": Look("#1a7f37", "#56d364", "", "M2 6.5 5 9.5 10.5 3"),
    "fallback": Look("#9a6700", "#e3b341", "8 3", "M2 4H10M7.5 1.5 10 4 7.5 6.5M10 9H2M4.5 6.8 2 9 4.5 11.2"),
    "failed": Look("#c0271f", "#ff7b72", "", "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5"),
    "blocked": Look("#99286e", "#f778ba", "6 3", "M2 2H10V10H2ZM4 6H8"),
    "asks you": Look("#6639ba", "#bc8cff", "", "M3.5 4.2A2.5 2.3 0 1 1 6 6.6V8M6 10V10.6"),
    "unknown": Look("#4a4ab8", "#a5a5ff", "2 2", "M6 1.5 11 10.5H1Z"),
    "skipped": Look("#57606a", "#9aa4af", "2 4", "M2 2.5 5.5 6 2 9.5M6.5 2.5 10 6 6.5 9.5"),
    "not run": Look("#57606a", "#9aa4af", "1 3", "M2.5 6H9.5"),
    "planned": Look("#0b5cad", "#79c0ff", "", "M6 2.2A3.8 3.8 0 1 0 6.01 2.2Z"),
    "": Look("#0b5cad", "#79c0ff", "", ""),
}
"""By state; a colour never stands alone: sign, word and frame say the same."""


@dataclass(frozen=True)
class Node:
    """A box: `title` and `lines` stand in it, `tip` is all there is to say; `write` marks what changes something."""

    name: str
    title: str
    lines: tuple[str, ...] = ()
    state: str = ""
    write: bool = False
    tip: str = ""


@dataclass(frozen=True)
class Edge:
    """A line; dashed where only the order counts, or where a way is taken under a condition."""

    source: str
    target: str
    dashed: bool = False


@dataclass(frozen=True)
class Drawing:
    """Boxes in reading order, and lines between them; `keys` say what the lines and frames mean."""

    title: str
    nodes: list[Node]
    edges: list[Edge]
    keys: dict[str, str]


def drawing_of_report(report: Report, version: int | None = None) -> Drawing:
    """The plan as it ran: every step that counts in the end, or the steps of one version."""
    results = {result["step"]: result for result in report["results"]}
    plans = report["plans"]
    if version is None:
        steps = list(Watch(plans=plans, results=results).steps().values())
        return _drawing(f"{report['pattern']}: {report['task']}", steps, results, len(plans) > 1)
    plan = next(plan for plan in plans if plan["version"] == version)
    same = {s["id"]: results[s["id"]] for s in plan["steps"] if _is_of(s, results)}
    return _drawing(f"plan {version}: {plan['reason'] or plan['goal']}", plan["steps"], same, True)


def drawing_of_plan(plan: Plan) -> Drawing:
    """A plan before it runs."""
    drawn = _drawing(f"plan {plan['version']}: {plan['goal']}", plan["steps"], {}, False)
    return replace(drawn, nodes=[replace(node, state="planned") for node in drawn.nodes])


def drawing_of_steps(steps: Iterable[Step]) -> Drawing:
    """Steps of one or several versions without what became of them, which whoever watches knows better."""
    return _drawing("", steps, {}, False)


def drawing_of_pattern(name: str, graph: Any) -> Drawing:
    """The nodes of a pattern; dashed where the way depends on what happened. `graph` is LangGraph's `get_graph()`."""
    nodes = [Node(key, "start" if key == "__start__" else "end" if key == "__end__" else key) for key in graph.nodes]
    edges = [Edge(edge.source, edge.target, bool(edge.conditional)) for edge in graph.edges]
    return Drawing(name, nodes, edges, {"solid": "always", "dashed": "depends on what happened"})


def state_of(result: Result | None) -> str:
    """The word for how a step came out; a run that has ended waits for nothing."""
    return "not run" if result is None or result["status"] == "not_run" else STATES[result["status"]]


def took(result: Result) -> float:
    """Seconds from start to end."""
    return max(0.0, result["ended"] - result["started"])


def duration(seconds: float) -> str:
    """In the unit in which something is to be seen."""
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1000:.0f} ms"


def _is_of(step: Step, results: Mapping[str, Result]) -> bool:
    return step["id"] in results and results[step["id"]]["hash"] == step_hash(step)


def _drawing(title: str, steps: Iterable[Step], results: Mapping[str, Result], versions: bool) -> Drawing:
    listed = list(steps)
    edges = [Edge(name, step["id"], name not in _used(step)) for step in listed for name in needs(step)]
    there = {step["id"] for step in listed}
    edges = [edge for edge in edges if edge.source in there and edge.source != edge.target]
    keys = {"solid": "takes the result", "dashed": "only after it", "thick": "changes something"}
    return Drawing(title, [_node(step, results.get(step["id"]), versions) for step in listed], edges, keys)


def _used(step: Step) -> set[str]:
    """The steps whose results this one reads, not only waits for."""
    fallback = (step["fallback"] or {}).get("args")
    read = {*references(step["args"]), *references(step["each"]), *references(fallback), *step["rests_on"]}
    return read | set(step_ids(step["when"]) if step["when"] else [])


def _node(step: Step, result: Result | None, versions: bool) -> Node:
    args = ", ".join(f"{name}: {_plain(value)}" for name, value in step["args"].items())
    marks = ["critical"] * step["critical"] + [f"plan {step['version']}"] * versions
    tool = " · ".join([step["tool"], *marks])
    lines = [tool, step["why"], args, *_rules(step), _outcome(result)]
    facts = (f"{step['id']}: {step['tool']}", as_json(step["args"]), step["why"], why(result) if result else "")
    tip = "\n".join(one_line(fact, 600) for fact in facts if fact)
    shown = tuple(one_line(line, 200) for line in lines if line)
    return Node(step["id"], step["id"], shown, state_of(result), step["effect"] == "write", tip)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _rules(step: Step) -> Iterable[str]:
    """What else may happen: once for each item, only under a condition, another call in its place."""
    if step["each"]:
        yield f"each of {step['each']}"
    if step["when"]:
        yield f"if {step['when']}"
    fallback = step["fallback"]
    if fallback:
        yield f"else {fallback['tool'] if 'tool' in fallback else _plain(fallback.get('value'))}"


def _outcome(result: Result | None) -> str:
    """How long it took, and how many parts and tries."""
    if result is None or not result["attempts"]:
        return ""
    parts, tries = result["parts"], result["attempts"]
    good = sum(part["status"] in ("done", "degraded") for part in parts)
    told = [duration(took(result)), "slow" if result["slow"] else ""]
    told += [f"{good} of {count(len(parts), 'part')}" if parts else ""]
    told += [f"{tries} tries" if tries > 1 and not parts else ""]
    return ", ".join(filter(None, told))
