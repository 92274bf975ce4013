"""From a request in words to a plan: cut into single requests, each tried on the recognisers below, in order.

A part that no recogniser takes as a whole makes the plan impossible; nothing is dropped silently.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from nodes.offline import counting, documents, files, mail, texts
from nodes.offline.arithmetic import calculate
from nodes.offline.clauses import clauses, unlisted
from nodes.offline.conditions import condition, for_each
from nodes.offline.constraints import keep
from nodes.offline.draft import Draft, NotUnderstood, Tool, Value
from nodes.offline.lexicon import meaning
from nodes.offline.match import FOUND, any_tool, name_stems, named_in_full, related
from nodes.offline.tokens import Token, source
from tools.stems import stem

OFFLINE = "offline planner, no language model"
HOW_TO_NAME_A_MODEL = (
    "For requests in free words name a model: set LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY, or give --model."
)
Recogniser = Callable[[list[Token], Draft], bool]
_SENTENCE_END = re.compile(r"[.!?。！？\n;；]")
_MAX_CHARACTERS = 8_000


def plan(fences: Mapping[str, Any]) -> dict[str, Any]:
    """The plan, in the form of `state.plan.PlanDraft`, for the data of a planner's prompt."""
    task = str(fences.get("task") or "")
    try:
        steps = _steps(task, fences)
    except _NoOtherWay as problem:
        return {"goal": task[:200], "steps": [], "impossible": str(problem)}
    except NotUnderstood as problem:
        return {"goal": task[:200], "steps": [], "impossible": _impossible(str(problem))}
    return {"goal": task[:200], "steps": steps}


class _NoOtherWay(NotUnderstood):
    """The request was understood, and failed: another planner would fare no better."""


def _impossible(why: str) -> str:
    here = f"This is the {OFFLINE}: it understands only the requests of its grammar."
    return f"{why.rstrip('.')}. {here} {HOW_TO_NAME_A_MODEL}"


def _steps(task: str, fences: Mapping[str, Any]) -> list[dict[str, Any]]:
    if said := _list(fences.get("about_your_plans")):
        raise NotUnderstood(f"what you said about the plan can't be used: {said[-1]}; edit the steps instead")
    if findings := _list(fences.get("findings")):
        raise NotUnderstood(f"the plan for this request does not pass the check: {findings[0]}")
    if len(task) > _MAX_CHARACTERS:
        raise NotUnderstood(f"the request has {len(task)} characters; at most {_MAX_CHARACTERS} are read")
    draft = _draft(fences)
    _understand(task, draft)
    if not draft.steps:
        raise NotUnderstood("the request asks for nothing that a tool could do")
    if _found_nothing(_list(fences.get("failed"))):
        raise _NoOtherWay("the look-up failed, and nothing about it was found in the documents")
    if repeated := _repeats(draft.steps, _list(fences.get("failed"))):
        raise _NoOtherWay(repeated)
    writing = [name for name, tool in draft.tools.items() if tool.effect == "write"]
    keep(fences.get("constraints"), draft.steps, writing)
    return draft.steps


def _understand(task: str, draft: Draft) -> None:
    verbs = {name_stems(tool)[0] for tool in draft.tools.values() if name_stems(tool)}
    text = unlisted(task)
    tokens = meaning(text)
    try:
        end = 0
        for clause in clauses(tokens, verbs):
            if _SENTENCE_END.search(text[end : clause[0].start]):
                draft.next_sentence()
            if not condition(clause, draft) and not for_each(clause, draft):
                _one(clause, draft, text)
                draft.next_request()
            end = clause[-1].end
    except NotUnderstood:
        draft.back_to((0, 0, None))
        draft.next_sentence()
        whole = [token for token in tokens if token.kind != "mark" or token.text not in ("\n", "?", "？")]
        if _tried(lambda: any_tool(whole, draft, text), draft) is not None:
            raise


def _one(clause: list[Token], draft: Draft, text: str) -> None:
    """One request; raises `NotUnderstood` that quotes it."""
    said = source(text, clause)
    if _only_politeness(clause):
        return
    ways: list[Callable[[], bool]] = [
        lambda: _built_in(clause, draft, said, text),
        lambda: any_tool(clause, draft, text),
        lambda: documents.search(clause, draft, text, rivals=related(clause, draft)),
    ]
    if named_in_full(clause, draft):
        ways = ways[1:2]
    problems: list[str] = []
    for way in ways:
        if len(problems) == 2 and problems[1] and not documents.says_search(clause):
            break  # a tool was meant, and only an argument is unclear: searching for the words would be a guess
        problem = _tried(way, draft)
        if problem is None:
            return
        problems.append(problem)
    why = next((problem for problem in (problems[::-1] if documents.says_search(clause) else problems) if problem), "")
    raise NotUnderstood(f"“{said}” is not understood" + (f": {why}" if why else ""))


def _tried(way: Callable[[], bool], draft: Draft) -> str | None:
    """None if a way takes the request, else why it does not; then the draft is as it was."""
    kept = draft.mark()
    try:
        if way():
            return None
        problem = ""
    except NotUnderstood as error:
        problem = str(error)
    draft.back_to(kept)
    return problem


def _built_in(clause: list[Token], draft: Draft, said: str, text: str) -> bool:
    rest = counting.counted(clause, draft)
    return counting.is_done(rest, draft) or any(recognise(rest, draft) for recognise in _recognisers(said))


def _recognisers(said: str) -> tuple[Recogniser, ...]:
    """What is tried on a request, in this order; the first that takes all of it wins."""
    return (
        calculate,
        documents.compare,
        files.list_files,
        texts.summarise,
        texts.translate,
        files.copy,
        files.write,
        lambda tokens, draft: mail.mail(tokens, draft, said),
        files.compress,
        documents.show,
        documents.read_files,
    )


def _only_politeness(clause: list[Token]) -> bool:
    return all(
        t.means("also", "the", "it") or t.text.lower() in ("thanks", "thank", "you", "谢谢", "hello", "hi", "你好")
        for t in clause
    ) and not any(t.means("it") for t in clause)


def _draft(fences: Mapping[str, Any]) -> Draft:
    described = [tool for tool in _list(fences.get("tools")) if isinstance(tool, Mapping) and tool.get("name")]
    tools = {
        tool["name"]: Tool(
            str(tool["name"]),
            str(tool.get("description") or ""),
            tool.get("args") or {},
            tool.get("returns"),
            str(tool.get("effect") or "read"),
        )
        for tool in described
    }
    inputs = fences.get("inputs")
    failed = {item["tool"] for item in _list(fences.get("failed")) if isinstance(item, Mapping) and item.get("tool")}
    draft = Draft(tools, inputs=inputs if isinstance(inputs, Mapping) else {}, failed=frozenset(failed))
    return draft


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _repeats(steps: list[dict[str, Any]], failed: list[Any]) -> str:
    """Why a plan would only repeat what failed, or an empty text."""
    for item in failed:
        if isinstance(item, Mapping) and any(
            step["tool"] == item.get("tool") and step["id"] == str(item.get("id")).split("_v")[0] for step in steps
        ):
            why = str(item.get("why")).rstrip(".")
            return f"step {item.get('id')} ({item.get('tool')}) failed: {why}; there is no other tool for it"
    return ""


def _found_nothing(failed: list[Any]) -> bool:
    """Whether the search that stood in for another tool was the last that failed."""
    return any(isinstance(item, Mapping) and FOUND in str(item.get("why")) for item in failed)


__all__ = ["HOW_TO_NAME_A_MODEL", "OFFLINE", "Value", "plan", "stem"]
