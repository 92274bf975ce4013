"""Checks the references of a step before it runs: to something that is there, and at a path that can hold something."""

from collections.abc import Iterator, Mapping, Sequence

from nodes.typed_args import Schema, at_path, dead_end
from state.conditions import step_paths, unparsable
from state.plan import RESERVED, Step, needs
from state.references import PATTERN, SEGMENT, each_text, references, whole

Known = Mapping[str, Schema | None]
"""What can be referred to, with the schema of its output where that is declared."""


def reference_problems(step: Step, known: Known) -> Iterator[str]:
    """What is wrong with what a step refers to."""
    yield from _names(step, known)
    yield from _inputs(step, known)
    yield from _paths(step, known)


def item_schema(step: Step, known: Known) -> Schema | None:
    """The schema of one item of the list that a step goes over."""
    match = whole(step["each"])
    return at_path(known.get(match[1]), f"{match[2]}[0]") if match else None


def _names(step: Step, known: Known) -> Iterator[str]:
    for name in [*needs(step), *(["item"] if "item" in references(step["args"]) else [])]:
        if name == "item" and not step["each"]:
            yield "${steps.item} only means something in a step with `each`"
        elif name != "item" and name not in known:
            there = [one for one in known if one not in RESERVED]
            yield f"refers to step {name!r}, which is not there; there are {_some(there)}"


def _paths(step: Step, known: Known) -> Iterator[str]:
    """A path that the declared output can't hold leads nowhere, whenever it is asked."""
    visible = {**known, "item": item_schema(step, known)} if step["each"] else known
    asked: dict[str, str] = {}

    def look(text: str) -> None:
        asked.update({m[0]: dead_end(visible.get(m[1]), m[2]) for m in PATTERN.finditer(text)})

    each_text([step["args"], step["each"], (step["fallback"] or {}).get("args")], look)
    yield from (f"{text} leads nowhere: {why}" for text, why in asked.items() if why)


def _inputs(step: Step, known: Known) -> Iterator[str]:
    given = (known["inputs"] or {}).get("properties", {})
    asked: list[str] = []
    texts = [step["args"], step["each"], (step["fallback"] or {}).get("args")]
    each_text(texts, lambda text: asked.extend(m[2] for m in PATTERN.finditer(text) if m[1] == "inputs"))
    for condition in filter(None, [step["when"], *step["accept"]]):
        named = [] if unparsable(condition) else step_paths(condition)
        asked.extend(path for name, path in named if name == "inputs")
    for first in dict.fromkeys(plain or quoted for path in asked for plain, quoted, _ in SEGMENT.findall(path)[:1]):
        if first and first not in given:
            yield f"there is no input {first!r}; there are {_some(sorted(given))}"


def _some(names: Sequence[str]) -> str:
    """The first names of many."""
    return f"{list(names[:20])}" + (f" and {len(names) - 20} more" if len(names) > 20 else "")
