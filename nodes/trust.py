"""Where untrusted data flows: what came from the web, documents or mail, into an argument of a write."""

from collections.abc import Mapping, Sequence

from state.plan import Plan, Step, calls_of, canonical, in_order, step_hash
from state.references import references, whole
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


def heard(plans: Sequence[Plan], results: Mapping[str, Result], tools: Mapping[str, Tool]) -> list[str]:
    """The steps of which whoever sees all results has seen something from outside, be it only why they failed."""
    steps = {step["id"]: step for plan in plans for step in plan["steps"]}
    return [name for name, result in results.items() if _was_untrusted(result, steps.get(name), tools)]


def flows_in_view(
    steps: Sequence[Step], seen: list[str], tools: Mapping[str, Tool], before: Sequence[Plan] = ()
) -> Flows:
    """Flows into steps that were written by who had seen these: any argument may hold any of them.

    But for the caller's inputs, and for what a write of an earlier version had in it and nothing had flowed into.
    """
    own, new = _clean(before), {step["id"] for step in steps} | {"item"}

    def may_hold(tool: str, key: str, value: object) -> bool:
        if (match := whole(value)) and match[1] == "inputs":
            return False
        return bool(new & set(references(value))) or canonical([tool, key, value]) not in own

    flows: Flows = {}
    for step in steps if seen else ():
        for name, args in calls_of(step):
            if name in tools and tools[name].effect == "write":
                held = {key: seen for key, value in args.items() if may_hold(name, key, value)}
                flows[step["id"]] = flows.get(step["id"], {}) | held
    return {name: flow for name, flow in flows.items() if flow}


def joined(*flows: Flows) -> Flows:
    """What several looks at the same steps found."""
    out: Flows = {}
    for name, flow in (item for one in flows for item in one.items()):
        known = out.get(name, {})
        out[name] = {key: _distinct([*known.get(key, []), *flow.get(key, [])]) for key in {**known, **flow}}
    return out


def kept_flows(last: Plan | None, steps: Sequence[Step]) -> Flows:
    """What was found about the steps that a version took over as they were."""
    found = last["untrusted"] if last else {}
    same = {step["id"]: step_hash(step) for step in steps if step["id"] in found}
    old = {step["id"]: step_hash(step) for step in last["steps"]} if last and found else {}
    return {name: flow for name, flow in found.items() if name in same and same[name] == old.get(name)}


def _clean(plans: Sequence[Plan]) -> set[str]:
    """Tool, argument and value of the writes of these plans where nothing untrusted flows."""
    return {
        canonical([tool, key, value])
        for plan in plans for step in plan["steps"] for tool, args in calls_of(step) for key, value in args.items()
        if key not in plan["untrusted"].get(step["id"], {})
    }  # fmt: skip


def _was_untrusted(result: Result, step: Step | None, tools: Mapping[str, Tool]) -> bool:
    reason = result["failure"]
    told = result["attempts"] and reason is not None and reason["cls"] != "timeout"  # in the tool's own words
    if result["status"] not in FINISHED and not (result["status"] == "failed" and told):
        return False
    called = {result["tool"], *(name for name, _ in (calls_of(step) if step else ()))}
    return any(name in tools and _brings_untrusted(tools[name], tools) for name in called)


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
