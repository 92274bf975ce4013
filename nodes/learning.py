"""What a run leaves behind: which lessons helped, and the one it learned, if a later attempt passed with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langgraph.store.base import BaseStore

from nodes.failures import one_line
from nodes.lesson_match import USED_FROM, Situation, error_of, score, step_of
from nodes.lesson_store import keep_lesson, lesson_of, lessons_in
from nodes.lessons import intent_of, tenant_of, whose
from nodes.likeness import alike
from nodes.recording import redacted
from nodes.run import Run
from state.clock import now
from state.lesson import Lesson, Origin, Outcome, Scope, ToldLesson, booked, new_lesson, outcome_of
from state.result import Result, why
from state.stop import Stop
from state.verdict import Reflection

if TYPE_CHECKING:
    from nodes.reporting import ReportInput

_DAY = 86400.0


async def settle_lessons(state: "ReportInput", run: Run, ended: Stop) -> list[ToldLesson]:
    """Books what came of the lessons that were told, and gives what was learned; in a replay and in shadow nothing."""
    idle = run.replay or run.context.shadow or run.context.dry_run or run.context.lessons == "off"
    outcome = outcome_of(ended)
    if run.store is None or idle or outcome == "open":
        return []
    try:
        for told in state["lessons"].values():
            if lesson := await lesson_of(run.store, tenant_of(run), told["id"]):
                await _book(lesson, outcome, run, run.store)
        return await _learn(state, run, run.store) if outcome == "helped" and run.context.lessons == "learn" else []
    except Exception as error:  # whatever a store makes of it: the run is over and its report is due
        run.event("lessons_lost", reason=one_line(error), next="go on")
        return []


async def _book(lesson: Lesson, outcome: Outcome, run: Run, store: BaseStore) -> None:
    after = booked(lesson, run.request["id"], outcome, _expires(run))
    if after is not lesson:
        await keep_lesson(store, after)


async def _learn(state: "ReportInput", run: Run, store: BaseStore) -> list[ToldLesson]:
    """The lesson of the last reflection, whose attempt passed; those before it led to attempts that did not."""
    passed = state["verdict"] is not None and state["verdict"]["outcome"] == "passed"
    used = [one for one in state["reflections"] if one["lesson"].strip() and one["change"] != "nothing"]
    asked = [one for one in state["reflections"] if one["verdict"] == "revise"]
    if not passed or not used or used[-1] is not asked[-1]:
        return []
    lesson = _lesson(used[-1], state["results"], run)
    if known := await _known(lesson, run, store):
        await _book(known, "helped", run, store)
        return []
    await keep_lesson(store, lesson)
    done: Outcome = "learned" if lesson["status"] == "approved" else "drafted"
    run.event("lesson_learned", reason=lesson["strategy"], evidence=[lesson["id"], lesson["status"], lesson["note"]])
    return [
        {
            "id": lesson["id"], "problem": lesson["problem"], "cause": lesson["cause"],
            "strategy": lesson["strategy"], "score": 1.0, "roles": [], "outcome": done,
        }
    ]  # fmt: skip


def _lesson(reflection: Reflection, results: Mapping[str, Result], run: Run) -> Lesson:
    stands = _situation(reflection, results, run)
    failed = stands.step.split(" ", 1)[0]
    words = (reflection["trigger"], reflection["diagnosis"], reflection["lesson"])
    origin: Origin = {
        "runs": [run.request["id"]], "pattern": run.request["pattern"], "attempt": reflection["attempt"]
    }  # fmt: skip
    clean: list[Any] = redacted([words, stands.trigger])
    lesson = new_lesson(tuple(clean[0]), clean[1], _scope(run, failed), origin, now())
    lesson["expires"] = _expires(run)
    if doubtful := _untrusted(results, run):
        return {**lesson, "note": f"a person must approve it: the run had read untrusted data ({doubtful})"}
    return {**lesson, "status": "approved"}


def _situation(reflection: Reflection, results: Mapping[str, Result], run: Run) -> Situation:
    """What the reflection was about: the failed step that its trigger names, else the words of the trigger."""
    failed = [one for one in results.values() if one["status"] == "failed" and why(one)]
    named = [one for one in failed if why(one) in reflection["trigger"]]
    if named:
        return Situation(intent_of(run), error_of(named[-1]), step_of(named[-1]))
    return Situation(intent_of(run), reflection["trigger"])


def _scope(run: Run, failed: str) -> Scope:
    here, within = whose(run), run.context.lesson_scope
    return {
        **here, "tools": [failed] if failed else [], "thread": here["thread"] if "thread" in within else "",
        "pattern": here["pattern"] if "pattern" in within else "",
    }  # fmt: skip


async def _known(lesson: Lesson, run: Run, store: BaseStore) -> Lesson | None:
    """The same lesson, or one that says as much of the same situation, whatever its status."""
    trigger = lesson["trigger"]
    stands = Situation(trigger["intents"][0], trigger["error"], trigger["step"])
    for one in await lessons_in(store, tenant_of(run)):
        same = alike(one["strategy"], lesson["strategy"]) >= USED_FROM and score(one, stands, alike) >= USED_FROM
        if one["scope"] == lesson["scope"] and (one["id"] == lesson["id"] or same):
            return one
    return None


def _untrusted(results: Mapping[str, Result], run: Run) -> str:
    """The tools whose outputs nobody vouches for and that the run, and so perhaps the reflection, has read."""
    used = dict.fromkeys(one["tool"] for one in results.values() if one["attempts"])
    return ", ".join(name for name in used if name in run.tools and run.tools[name].untrusted)


def _expires(run: Run) -> float | None:
    days = run.context.lesson_days
    return None if days is None else now() + days * _DAY
