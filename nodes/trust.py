"""Where untrusted data flows: what came from the web, documents or mail, into an argument of a write."""

from collections.abc import Mapping, Sequence

from state.plan import Step, calls_of, in_order
from state.references import references
from state.result import FINISHED, Result
from tools.tool import Tool

Flows = dict[str, dict[str, list[str]]]
"""Write step -> argument -> the steps whose untrusted output reaches it."""


def untrusted_flows(steps: Sequence[Step], tools: Mapping[str, Tool]) -> Flows:
    """The writes of a plan that untrusted outputs reach, through however many steps between."""
    reached: dict[str, list[str]] = {}
    flows: Flows = {}
    for step in in_order(steps):
        mapped = [source for name in references(step["each"]) for source in reached.get(name, [])]
        reached[step["id"]] = list(mapped)
        for name, args in calls_of(step):
            tool = tools.get(name)
            flow = {key: found for key, value in args.items() if (found := _sources(value, reached, mapped))}
            own = [step["id"]] if tool and _brings_untrusted(tool, tools) else []
            reached[step["id"]] = _distinct(
                [*reached[step["id"]], *own, *(s for found in flow.values() for s in found)]
            )
            if flow and tool and tool.effect == "write":
                flows[step["id"]] = flows.get(step["id"], {}) | flow
    return flows


def flows_in_view(steps: Sequence[Step], results: Mapping[str, Result], tools: Mapping[str, Tool]) -> Flows:
    """Flows into steps that were written by who had seen every result: any argument may hold any of them."""
    heard = [name for name, result in results.items() if _was_untrusted(result, tools)]
    writes = [step for step in steps if step["effect"] == "write"]
    return {step["id"]: {key: heard for key in step["args"]} for step in writes if heard and step["args"]}


def _was_untrusted(result: Result, tools: Mapping[str, Tool]) -> bool:
    tool = tools.get(result["tool"])
    return result["status"] in FINISHED and tool is not None and _brings_untrusted(tool, tools)


def _brings_untrusted(tool: Tool, tools: Mapping[str, Tool]) -> bool:
    """Whether a tool's output comes from outside, or that of the tool which may stand in for it."""
    other = tools.get(tool.fallback)
    return tool.untrusted or (other is not None and other.untrusted)


def in_words(flow: Mapping[str, Sequence[str]]) -> str:
    """One write's flow as a person reads it."""
    parts = [f"{name} (from {', '.join(sources)})" for name, sources in flow.items()]
    return f"untrusted data flows into {', '.join(parts)}" if parts else ""


def _sources(value: object, reached: Mapping[str, list[str]], mapped: list[str]) -> list[str]:
    found: list[str] = []
    for name in references(value):
        found += mapped if name == "item" else reached.get(name, [])
    return _distinct(found)


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
