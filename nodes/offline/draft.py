"""The plan while it grows: steps, what each gave, and what "it", "them", "each" and "the archive" point to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodes.offline.schemas import Want, item_of, part_for
from state.references import references


class NotUnderstood(Exception):
    """A part of the request that this grammar can't carry out; the message is for the user."""


@dataclass(frozen=True)
class Tool:
    """A tool as the prompt describes it."""

    name: str
    description: str
    args: Mapping[str, Any]
    returns: Mapping[str, Any] | None
    effect: str = "read"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters' schemas by name."""
        return self.args.get("properties") or {}

    @property
    def required(self) -> list[str]:
        """The names of the parameters it can't do without."""
        return list(self.args.get("required") or ())


@dataclass(frozen=True, eq=False)
class Value:
    """Something a request speaks of: a literal, or the result of a step."""

    literal: Any = None
    kind: str = "text"
    step: str = ""
    returns: Mapping[str, Any] | None = None
    noun: str = ""
    source: str = ""
    """The path of the file that the result was read from."""
    many: bool = False
    """Whether it is the list of results of a step that ran once for every item."""
    item: bool = False
    """Whether it stands for each item of the list, one after the other."""

    def argument(self, want: Want) -> Any:
        """The value as an argument of the wanted kind: a literal or a reference; None where it has no such part."""
        if not self.step:
            return _literal(self.literal, want)
        path = self._listed(want) if self.many else part_for(self.returns, want)
        name = "item" if self.item else self.step
        return None if path is None else f"${{steps.{name}{path}}}"

    def _listed(self, want: Want) -> str | None:
        """The wanted part of a list of results."""
        if want == "paths":
            return _all(part_for(self.returns, "path"))
        return "" if want in ("list", "any") else None

    @property
    def is_list(self) -> bool:
        """Whether "each" can go over it."""
        if self.step:
            return self.many or (
                self.returns is not None and part_for(self.returns, "list") is not None and not self._open()
            )
        return isinstance(self.literal, list)

    def _open(self) -> bool:
        return part_for(self.returns, "number") == part_for(self.returns, "list") == ""


def _all(path: str | None) -> str | None:
    return path if path is None or path == "" else f"[*]{path}"


def _literal(value: Any, want: Want) -> Any:
    if want in ("paths", "list") and not isinstance(value, list):
        return value if isinstance(value, str) and value.startswith("${") else [value]
    return value


Mark = tuple[int, int, Value | None]


@dataclass
class Draft:
    """The tools, the caller's inputs, and the steps so far."""

    tools: Mapping[str, Tool]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()
    """Tools that failed in an earlier version of the plan."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    each: Value | None = None
    """The list that the request at hand goes over, item by item."""
    topic: Value | None = None
    """What "it" stands for in the request at hand, when that is not the result before: for each file, …"""
    when: str = ""
    """The condition under which the request at hand runs."""

    def tool(self, name: str, purpose: str) -> Tool:
        """A tool in use; raises `NotUnderstood` when it is not."""
        found = self.tools.get(name)
        if found is None:
            raise NotUnderstood(f"there is no tool {name} in use, which it needs to {purpose}")
        return found

    def add(self, tool: Tool, args: dict[str, Any], *, noun: str = "", source: str = "", why: str = "") -> Value:
        """Appends a step and gives its value; equal reads of the same thing are one step."""
        missing = [name for name in tool.required if args.get(name) is None]
        if missing:
            raise NotUnderstood(f"the argument {missing[0]!r} of the tool {tool.name} is missing")
        step: dict[str, Any] = {"id": f"s{len(self.steps) + 1}", "tool": tool.name, "args": args}
        many = self.each is not None and _mentions_item(args)
        if many and self.each is not None:
            step["each"] = self.each.argument("list")
        if self.when:
            step["when"] = self.when
        if why:
            step["why"] = why
        same = next((s for s in self.steps if tool.effect == "read" and {**s, "id": ""} == {**step, "id": ""}), None)
        if same is None:
            self.steps.append(step)
        value = Value(step=(same or step)["id"], returns=tool.returns, noun=noun, source=source, many=many, kind=noun)
        self.values.append(value)
        return value

    def mark(self) -> Mark:
        """Where the draft stands, for `back_to`."""
        return len(self.steps), len(self.values), self.each

    def back_to(self, mark: Mark) -> None:
        """Forgets what came after a mark."""
        del self.steps[mark[0] :], self.values[mark[1] :]
        self.each = mark[2]

    def next_request(self) -> None:
        """Goes on in the same sentence: a condition still holds, and "for each" goes on with what it gave."""
        self.each = None
        if self.topic is not None:
            self.each = self.values[-1] if self.values and self.values[-1].many else None
            self.topic = self.item() if self.each is not None else None

    def next_sentence(self) -> None:
        """Forgets what holds for one sentence only."""
        self.each = self.topic = None
        self.when = ""

    def item(self) -> Value:
        """What "each" stands for; raises `NotUnderstood` where there is no list."""
        if self.each is None:
            self.each = self._latest_list()
        if isinstance(self.each.literal, str) or not self.each.step:
            return Value(step="item", returns=None, item=True)
        returns = self.each.returns if self.each.many else item_of(self.each.returns)
        return Value(step="item", returns=returns, item=True)

    def last(self) -> Value:
        """What "it" stands for."""
        if self.topic is not None:
            return self.topic
        if not self.values:
            raise NotUnderstood("it is not clear what “it” or “the result” means: nothing comes before it")
        return self.values[-1]

    def plural(self) -> list[Value]:
        """What "them" stands for."""
        if not self.values:
            raise NotUnderstood("it is not clear what “them” means: nothing comes before it")
        used = {name for step in self.steps for name in references([step["args"], step.get("each")])}
        loose = {value.step: value for value in self.values if value.step not in used}
        return self.values[-1:] if self.values[-1].is_list else list(loose.values())

    def by_noun(self, noun: str, *, plural: bool = False) -> list[Value]:
        """The latest result of a kind, such as the summary or the archive; or all of them."""
        found = list({value.step: value for value in self.values if value.noun == noun}.values())
        return found if plural else found[-1:]

    def _latest_list(self) -> Value:
        for value in reversed(self.values):
            if value.is_list:
                return value
        raise NotUnderstood("it is not clear what “each” goes over: there is no list before it")


def _mentions_item(value: Any) -> bool:
    if isinstance(value, str):
        return "${steps.item" in value
    parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_mentions_item(part) for part in parts)


def literal(value: Any, kind: str = "text") -> Value:
    """A value given in the request itself."""
    return Value(literal=value, kind=kind)


def given(name: str) -> Value:
    """One of the caller's inputs."""
    return Value(literal=f"${{steps.inputs.{name}}}", kind="input")
