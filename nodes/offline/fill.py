"""Arguments of any tool from the words of a request, by the tool's own schema; what is not certain is refused."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nodes.offline.candidates import NAME_PART, Candidate, candidates
from nodes.offline.choices import choices, flags
from nodes.offline.draft import Draft, NotUnderstood, Tool, given
from nodes.offline.leftovers import nothing_left
from nodes.offline.nouns import input_named
from nodes.offline.roles import fits, likeness
from nodes.offline.schemas import resolved, type_of, want_for
from nodes.offline.tokens import Token
from tools.stems import stem

_WHOLE = re.compile(r"-?\d+")
_SURE = 2.0


def fill(clause: Sequence[Token], tool: Tool, draft: Draft, known: frozenset[str], text: str) -> dict[str, Any]:
    """The arguments; raises `NotUnderstood` naming what is missing or what is left over."""
    parameters = {name: resolved(schema, tool.args) for name, schema in tool.parameters.items()}
    chosen, used = choices(clause, parameters)
    args: dict[str, Any] = dict(chosen) | flags(clause, parameters)
    args |= _inputs(clause, parameters, draft, used)
    open_ = {name: schema for name, schema in parameters.items() if name not in args}
    labels = frozenset(stem(part) for label in (tool.name, *parameters) for part in NAME_PART.findall(label))
    found = [c for c in candidates(clause, text, known, labels) if not used & set(range(c.start, c.end))]
    found = _without_counts(found, clause, tool)
    taken = _lists(found, open_, tool, args)
    taken |= _assign(found, open_, tool, args, taken)
    _refer(clause, tool, parameters, args, draft)
    _demand(tool, parameters, args)
    nothing_left(clause, found, taken, used, known)
    return args


def _assign(
    found: list[Candidate], open_: Mapping[str, Any], tool: Tool, args: dict[str, Any], taken: set[int]
) -> set[int]:
    """Each candidate to the parameter it is most like; what is left goes in order where only one way is possible."""
    pairs = sorted(
        (
            (likeness(name, schema, c, tool), -n, -k, name)
            for k, (name, schema) in enumerate(open_.items())
            for n, c in enumerate(found)
            if n not in taken and fits(schema, c)
        ),
        reverse=True,
    )
    mine: set[int] = set()
    best: dict[int, list[float]] = {}
    for score, n, _, _ in pairs:
        best.setdefault(-n, []).append(score)
    for score, n, _, name in pairs:
        ranked = best[-n]
        if (
            score < _SURE
            or name in args
            or -n in mine
            or (len(ranked) > 1 and ranked[0] == ranked[1] and score == ranked[0])
        ):
            continue
        args[name] = _value(found[-n], open_[name], name)
        mine.add(-n)
    return mine | _in_order(found, open_, tool, args, taken | mine)


def _in_order(
    found: list[Candidate], open_: Mapping[str, Any], tool: Tool, args: dict[str, Any], taken: set[int]
) -> set[int]:
    """The required parameters that are left, filled in order if there are exactly as many candidates."""
    mine: set[int] = set()
    for numeric in (True, False):
        names = [
            n
            for n in tool.required
            if n in open_ and n not in args and (type_of(open_[n]) in ("number", "integer")) == numeric
        ]
        names = [n for n in names if type_of(open_[n]) in ("number", "integer", "string")]
        left = [
            n for n, c in enumerate(found) if n not in taken | mine and (c.kind in ("number", "percent")) == numeric
        ]
        if len(names) != len(left) or (len(names) > 1 and not (numeric and _alike(names))):
            continue
        for name, n in zip(names, left, strict=True):
            if fits(open_[name], found[n]):
                args[name] = _value(found[n], open_[name], name)
                mine.add(n)
    return mine


def _without_counts(found: list[Candidate], clause: Sequence[Token], tool: Tool) -> list[Candidate]:
    """ "three sides: 3, 4 and 5": the number in words only says how many there are."""
    names = [name for name in tool.required if type_of(tool.parameters.get(name)) in ("number", "integer")]
    count = str(len(names))
    if len(names) < 2 or not _alike(names) or sum(c.kind == "number" for c in found) != len(names) + 1:
        return found
    return [c for c in found if not (c.kind == "number" and c.value == count and clause[c.start].text.isalpha())]


def _alike(names: Sequence[str]) -> bool:
    """side1, side2, side3 or a, b, c: names that only their place tells apart."""
    return len({re.sub(r"[\d_]+$|^\w$", "", name) for name in names}) == 1


def _lists(found: list[Candidate], open_: Mapping[str, Any], tool: Tool, args: dict[str, Any]) -> set[int]:
    """The one required list takes every candidate of its items' kind, if nothing else could take them."""
    names = [name for name in open_ if type_of(open_[name]) == "array" and name in tool.required]
    if len(names) != 1:
        return set()
    items = resolved(open_[names[0]].get("items"), tool.args)
    rivals = [
        name
        for name, schema in open_.items()
        if name in tool.required and name != names[0] and _family(schema) == _family(items)
    ]
    mine = {n for n, c in enumerate(found) if fits(items, c)}
    strong = {n for n in mine if found[n].kind in ("quote", "number", "path", "mail")}
    mine = strong or mine
    if rivals or not mine or _family(items) == "object":
        return set()
    args[names[0]] = [_value(found[n], items, names[0]) for n in sorted(mine)]
    return mine


def _family(schema: Mapping[str, Any]) -> str:
    kind = type_of(schema)
    return "number" if kind == "integer" else kind


def _value(candidate: Candidate, schema: Mapping[str, Any], name: str) -> Any:
    """A candidate as a JSON value of the parameter's type."""
    kind = type_of(schema)
    if candidate.kind == "percent":
        return _percent(str(candidate.value), schema, name)
    if kind in ("number", "integer"):
        text = str(candidate.value)
        return int(text) if _WHOLE.fullmatch(text) else float(text)
    if kind == "array":
        return [_value(candidate, schema.get("items") or {}, name)]
    return str(candidate.value).strip()


def _percent(digits: str, schema: Mapping[str, Any], name: str) -> Any:
    said = f"{name} {schema.get('description', '')}".lower()
    if "decimal" in said or "fraction" in said or "0.0" in said:
        return float(digits) / 100
    if "percent" in said or "%" in said:
        return int(digits) if digits.isdigit() else float(digits)
    raise NotUnderstood(
        f"it is not clear whether the argument {name!r} takes {digits} percent as {digits} or as a fraction"
    )


def _inputs(clause: Sequence[Token], parameters: Mapping[str, Any], draft: Draft, used: set[int]) -> dict[str, Any]:
    """Inputs of the caller that the request names, for the parameter of the same name or the only one."""
    args: dict[str, Any] = {}
    for at, token in enumerate(clause):
        each = any(word.means("each") for word in clause[max(0, at - 3) : at])
        given_name = input_named(token, draft, plural=each)
        if not given_name or at in used:
            continue
        name = given_name if given_name in parameters else next(iter(parameters), "") if len(parameters) == 1 else ""
        if not name:
            continue
        used.add(at)
        args[name] = given(given_name).literal
        if isinstance(draft.inputs[given_name], list) and type_of(parameters[name]) != "array":
            if not each:
                raise NotUnderstood(f"the input {given_name!r} is a list; say “each” to go over it")
            draft.each = given(given_name)
            args[name] = "${steps.item}"
    return args


def _refer(
    clause: Sequence[Token], tool: Tool, parameters: Mapping[str, Any], args: dict[str, Any], draft: Draft
) -> None:
    """ "it" fills the one required parameter that is still open."""
    missing = [name for name in tool.required if name not in args]
    pronouns = [t for t in clause if t.means("it", "them", "each") or t.kind == "value"]
    if len(missing) != 1 or not draft.values or not pronouns:
        return
    token = pronouns[0]
    value = token.value if token.kind == "value" else draft.item() if token.means("each") else draft.last()
    argument = value.argument(want_for(parameters[missing[0]]))
    if argument is None:
        raise NotUnderstood(f"the result before it does not fit the argument {missing[0]!r} of the tool {tool.name}")
    args[missing[0]] = argument


def _demand(tool: Tool, parameters: Mapping[str, Any], args: Mapping[str, Any]) -> None:
    for name in tool.required:
        if name not in args:
            said = str(parameters.get(name, {}).get("description") or "").split(". ")[0]
            raise NotUnderstood(
                f"the argument {name!r} of the tool {tool.name} is missing{f' ({said})' if said else ''}"
            )
