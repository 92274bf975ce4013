"""What a critic of limited sight says of results: what it sees is wrong, what it calls wrong, what it overlooks.

It compares with gold what it is shown, as every role does: nothing reaches it past the prompt.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evals.gold import VERSION
from evals.rates import Noise
from evals.tasks import Task
from evals.truth import Truth, Views, truth
from state.json_text import from_json
from state.plan import canonical
from state.references import PATTERN, as_text, each_text
from state.result import FINISHED

_WRONG = re.compile(r"wrong results: (\[.*?\])")


def verdict_on(task: Task, views: Views, noise: Noise, *, halfway: bool = False) -> Truth | None:
    """What the critic finds wrong, or None where it is content; halfway nothing can be missing yet."""
    found = truth(task, views)
    gold = {step.id for step in task.gold}
    inside = [name for name in found.wrong if VERSION.sub("", name) in gold]
    bad = inside if halfway else [*found.lost, *_standing(found, views)]
    share = noise.draw(task, "critic", sorted(views), canonical(views))
    if bad:
        seen = Truth(found.wrong, [] if halfway else found.lost, found.strays)
        return seen if share < noise.recall else None
    right = [name for name in views if name not in found.wrong and views[name]["status"] in FINISHED]
    if share < noise.false_alarm and right:
        return Truth([right[int(share / noise.false_alarm * len(right))]], [], [])
    return None


def sees_wrong(task: Task, answer: Any, noise: Noise) -> bool:
    """Whether the critic calls an answer wrong."""
    right = answer in (task.answer(), as_text(task.answer()))
    return noise.draw(task, "critic", canonical(answer)) < (noise.false_alarm if right else noise.recall)


def _of_answer(task: Task, answer: Any, noise: Noise) -> Truth | None:
    return Truth([], [task.gold[-1].id], []) if sees_wrong(task, answer, noise) else None


def _standing(found: Truth, views: Views) -> list[str]:
    """The stray changes that no right call of the same tool came after: those may have been mended."""
    right = [name for name in views if views[name]["status"] in FINISHED and name not in found.wrong]
    places = {views[name]["tool"]: place for place, name in enumerate(views) if name in right}
    return [name for place, name in enumerate(views) if name in found.strays and _after(place, views[name], places)]


def _after(place: int, view: Mapping[str, Any], right: Mapping[str, int]) -> bool:
    return right.get(view["tool"], -1) < place


def in_words(found: Truth) -> str:
    """A finding that the other roles can act on."""
    return f"wrong results: {json.dumps(found.wrong)}; missing: {json.dumps(found.lost)}"


def wrong_ones(texts: Sequence[str]) -> set[str]:
    """The results that texts call wrong."""
    return {name for text in texts for listed in _WRONG.findall(text) for name in from_json(listed)}


def check(task: Task, fences: Mapping[str, Any], noise: Noise) -> dict[str, Any]:
    """The grading of an answer by the results that it rests on; where it rests on none, by the answer itself."""
    views = fences.get("results")
    found = verdict_on(task, views, noise) if views else _of_answer(task, fences["answer"], noise)
    score, outcome = (3, "failed") if found else (9, "passed")
    checks = [{"criterion": "the results are those that the task asks for", "outcome": outcome, "evidence": "results"}]
    scores = dict.fromkeys(("completeness", "accuracy", "quality"), score)
    return {"checks": checks, **scores, "accepted": not found, "problems": [in_words(found)] if found else []}


def reflect(task: Task, fences: Mapping[str, Any], noise: Noise, *, look: bool) -> dict[str, Any]:
    """What must change: what the grading or code found; in a look back also what the critic sees itself."""
    views = fences.get("results") or {}
    if look and fences["trigger"]["cause"] in ("look", "budget nearly gone"):
        seen = verdict_on(task, views, noise, halfway=bool(fences.get("left")))
        if seen is None:
            return {"verdict": "continue"}
        return _revise(in_words(seen), _to_change(task, seen.wrong, views), fences, look)
    said = [text for text in (fences.get("verdict") or {}).get("problems", []) if _WRONG.search(text)]
    if said:
        return _revise("; ".join(said), _to_change(task, wrong_ones(said), views), fences, look)
    return _on_failures(task, views, fences, noise, look)


def _on_failures(task: Task, views: Views, fences: Mapping[str, Any], noise: Noise, look: bool) -> dict[str, Any]:
    """Of what code saw fail: who sees the cause names wrong results and wrong calls; who doesn't adds nothing."""
    failed = [name for name, one in views.items() if one["status"] == "failed"]
    if noise.draw(task, "cause", sorted(views), canonical(views)) >= noise.recall:
        return _revise(f"what failed must come in another way: {failed}", [], fences, look)
    wrong = truth(task, views).wrong
    return _revise(in_words(Truth(wrong, [], [])), _to_change(task, [*wrong, *failed], views), fences, look)


def _to_change(task: Task, named: Collection[str], views: Views) -> list[str]:
    """Without calls that were right where they stood, whatever came of them: those may come again."""
    return [name for name in named if name not in views or not _is_gold(task, name, views[name])]


def _is_gold(task: Task, name: str, view: Mapping[str, Any]) -> bool:
    """Whether a step is the gold one of its name: the same call, its references resolved or as they stand."""
    gold = {step.id: step for step in task.gold}.get(VERSION.sub("", name))
    if gold is None or gold.tool != view["tool"]:
        return False
    made = task.expected().get(gold.id)
    plain = each_text(
        view["args"], lambda text: PATTERN.sub(lambda m: f"${{steps.{VERSION.sub('', m[1])}{m[2]}}}", text)
    )
    return canonical(view["args"]) == canonical(made and made.args) or canonical(plain) == canonical(gold.args)


def _revise(lesson: str, steps: Sequence[str], fences: Mapping[str, Any], look: bool) -> dict[str, Any]:
    allowed = fences.get("allowed_changes") or ["step"]
    change = "step" if "step" in allowed else allowed[0]
    said = {"diagnosis": "not as gold has it", "change": change, "lesson": lesson, "steps": sorted(steps)}
    return {**said, **({"verdict": "revise", "findings": [lesson]} if look else {})}


def newest_answer(task: Task, views: Views) -> str:
    """The newest result of the tool that gold ends with, else what the last result says."""
    tools = [task.gold[-1].tool] if task.gold else []
    finished = [one for one in views.values() if one["status"] in FINISHED]
    fitting = [one for one in finished if one["tool"] in tools] or finished
    return as_text(fitting[-1]["output"]) if fitting else "there is no result to answer from"
