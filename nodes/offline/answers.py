"""What the offline planner says in the other roles: answers from results, summaries, and what it can't judge."""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from nodes.offline.requests import HOW_TO_NAME_A_MODEL, OFFLINE
from nodes.offline.summary import summary
from state.errors import ModelFailed
from state.references import references
from state.schemas import faults

CANT_JUDGE = f"{OFFLINE}: can't judge words"
_COUNT = re.compile(r"(\d+|one|two|three|four|five)\s+sentences?|(\d+|[一二三四五])\s*个?句", re.IGNORECASE)
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5}


def answer(fences: Mapping[str, Any]) -> str:
    """The final results as they are, and what is missing."""
    results = _results(fences)
    chinese = _chinese(str(fences.get("task") or ""))
    lines = [_text(result.get("output")) for result in _final(results).values()]
    lines = lines or ["没有结果。" if chinese else "There is no result."]
    missing = [str(item) for item in fences.get("missing") or []]
    if missing:
        lines += ["缺少：" if chinese else "Missing:", *(f"- {item}" for item in missing)]
    return "\n".join(lines)


def typed_answer(fences: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that results hold literally; the others are left out."""
    wanted = (schema.get("properties") or {}).get("answer") or {}
    results = _final(_results(fences))
    for name, result in reversed(results.items()):
        if not faults(result.get("output"), dict(wanted), most=1):
            return {"answer": result.get("output"), "sources": {"": [name]}}
    fields, sources = {}, {}
    for field, part in (wanted.get("properties") or {}).items():
        for name, result in results.items():
            output = result.get("output")
            if isinstance(output, Mapping) and field in output and not faults(output[field], part, most=1):
                fields[field], sources[field] = output[field], [name]
    if not fields:
        _refuse(f"no result fits the schema of the answer, and it can't make one that does. {HOW_TO_NAME_A_MODEL}")
    return {"answer": fields, "sources": sources}


def judgement(fences: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Unverified for every criterion; a grading in scores is refused, since there is nothing to give them by."""
    if {"accepted", "verdict"} & set(schema.get("properties") or {}):
        _refuse(f"can't grade an answer. {HOW_TO_NAME_A_MODEL}")
    criteria = fences.get("criteria") or [fences.get("task") or "the task"]
    checks = [{"criterion": _criterion(item), "outcome": "unverified", "evidence": CANT_JUDGE} for item in criteria]
    known = {"checks": checks, "problems": [CANT_JUDGE]}
    return {
        name: known.get(name)
        for name, part in (schema.get("properties") or {}).items()
        if name in known or _nullable(part)
    }


def reflection(schema: Mapping[str, Any]) -> dict[str, Any]:
    """No diagnosis, in whatever fields the schema asks for."""
    said = f"no diagnosis is possible: {OFFLINE}. {HOW_TO_NAME_A_MODEL}"
    return {name: _nothing(part, said) for name, part in (schema.get("properties") or {}).items()}


def unsolvable() -> dict[str, Any]:
    """No plan in words, since nobody here could solve its steps."""
    return {"steps": [], "impossible": f"{OFFLINE}: can't think in words. {HOW_TO_NAME_A_MODEL}"}


def drafted() -> NoReturn:
    """No draft: it has no words of its own."""
    _refuse(f"can't write a draft in words. {HOW_TO_NAME_A_MODEL}")


def carried_out(text: str, fences: Mapping[str, Any]) -> str:
    """A summary for an instruction that asks for one; anything else is refused plainly."""
    instruction, data = text.split("<data>", 1)[0], str(fences.get("data") or "")
    low = instruction.lower()
    if "summar" in low or "摘要" in low or "总结" in low or "概括" in low:
        return summary(data, _asked_count(instruction)) or _refuse("there is nothing to summarise")
    if "translat" in low or "翻译" in low:
        _refuse(f"can't translate. {HOW_TO_NAME_A_MODEL}")
    _refuse(f"can't carry out instructions in words. {HOW_TO_NAME_A_MODEL}")


def _refuse(why: str) -> NoReturn:
    """A refusal is a failure of the step, since its text would be taken for the result."""
    raise ModelFailed(f"{OFFLINE}: {why}", "permanent")


def _asked_count(instruction: str) -> int:
    found = _COUNT.search(instruction)
    word = (found[1] or found[2]).lower() if found else "3"
    return max(1, int(word) if word.isdigit() else _WORDS[word])


def _results(fences: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    results = fences.get("results")
    if not isinstance(results, Mapping):
        return {}
    good = {str(k): v for k, v in results.items() if isinstance(v, Mapping)}
    return {name: result for name, result in good.items() if result.get("status", "done") in ("done", "degraded")}


def _final(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Results that no other result was made from."""
    used = {name for result in results.values() for name in references([result.get("args"), result.get("each")])}
    lists: list[str] = []
    for name, result in results.items():  # a prompt does not say which list a map step went over: it was the latest
        if "item" in references(result.get("args")):
            used |= set(lists[-1:])
        if isinstance(result.get("output"), list):
            lists.append(name)
    return {name: result for name, result in results.items() if name not in used} or dict(results)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _chinese(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def _criterion(item: Any) -> str:
    return str(item.get("criterion") or item.get("condition") or item) if isinstance(item, Mapping) else str(item)


def _nullable(part: Mapping[str, Any]) -> bool:
    return any(option.get("type") == "null" for option in part.get("anyOf") or ())


def _nothing(part: Mapping[str, Any], said: str) -> Any:
    choices = part.get("enum") or ()
    if choices:
        return next((choice for choice in ("nothing", "none", "unverified") if choice in choices), choices[-1])
    if _nullable(part):
        return None
    return {"array": [], "object": {}, "boolean": False, "integer": 0, "number": 0}.get(str(part.get("type")), said)
