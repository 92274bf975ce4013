"""What stands in the prompts of long runs: evidence in short where there is too much of it, and the same beginning."""

from typing import Any

from nodes.drafting import new_steps
from nodes.memo import Memo
from nodes.prompts.reasoner import turn_messages
from nodes.records import blank
from nodes.told import LAST, told
from nodes.typed_args import is_small
from nodes.views import ROOM, result_views
from state.plan import PlanDraft
from tests.support.plans import plan, step
from tools.catalogue import Catalogue

LONG = "all work and no play " * 100


def chain(size: int) -> tuple[list[Any], dict[str, Any]]:
    """A plan of steps that each take the result before, and its results of two thousand characters."""
    drafts = [step(f"s{n}", "work", {"n": n, "text": f"${{steps.s{n - 1}}}" if n else "begin"}) for n in range(size)]
    steps = new_steps(PlanDraft.model_validate(plan(*drafts)), 1, {}, Catalogue())
    done: dict[str, Any] = {"status": "done", "attempts": 1}
    results = {one["id"]: {**blank(one), **done, "output": f"{n}: {LONG}"} for n, one in enumerate(steps)}
    for n, one in enumerate(steps[1:], 1):
        results[one["id"]]["args"] = {"n": n, "text": results[f"s{n - 1}"]["output"]}
    whole: Any = {"version": 1, "goal": "", "constraints": [], "steps": steps, "reason": "", "by": "planner",
                  "change": {}, "untrusted": {}, "value": None}  # fmt: skip
    return [whole], results


def test_an_argument_that_only_repeats_a_result_is_told_as_the_reference() -> None:
    views = result_views(*chain(3))
    assert views["s0"]["args"] == {"n": 0, "text": "begin"} and views["s2"]["args"] == {"n": 2, "text": "${steps.s1}"}
    assert all(view["output"].endswith("play ") for view in views.values())


def test_above_the_room_results_that_others_were_built_on_are_told_in_short_and_the_last_one_whole() -> None:
    views = result_views(*chain(200))
    outputs = [view["output"] for view in views.values()]
    assert outputs[-1] == f"199: {LONG}" and len(views) == 200
    assert all(output.startswith(f"{n}: all work") for n, output in enumerate(outputs))
    assert all(output.endswith("characters)") for output in outputs[:-1])
    assert sum(map(len, outputs)) <= ROOM + 200 * len("… (2105 characters)")


def in_turns(size: int) -> list[Any]:
    """A thought for each of so many calls."""
    return [{"turn": n + 1, "text": "", "marks": [], "next": "act", "step": f"s{n}"} for n in range(size)]


def prompts(size: int) -> list[str]:
    """The prompt of every turn of a reasoner that has made so many calls."""
    plans, results = chain(size)
    thoughts = in_turns(size)
    shown, memo = [], Memo()
    for turns in range(1, size + 1):
        some = {name: results[name] for name in list(results)[:turns]}
        messages = turn_messages("do it", {}, {}, [], told(thoughts[:turns], some, plans, memo), "en")
        shown.append("\n".join(str(message.content) for message in messages))
    return shown


def test_the_prompt_of_a_turn_goes_on_where_the_last_one_ended_but_for_few_turns() -> None:
    shown = prompts(200)
    anew = [n for n in range(1, len(shown)) if not shown[n].startswith(shown[n - 1])]
    assert 1 <= len(anew) <= 10
    assert max(map(len, shown)) <= 2 * ROOM
    assert all(f"{n}: {LONG}" in shown[-1] for n in range(200 - LAST, 200))


def test_a_turn_is_put_into_words_once_and_anew_where_its_result_is_another() -> None:
    (plans, results), memo = chain(3), Memo()
    first = told(in_turns(2), results, plans, memo)
    again = told(in_turns(3), {**results, "s1": {**results["s1"], "output": "corrected"}}, plans, memo)
    assert first[0] is not again[0], "other thoughts, though they say the same"
    thoughts = in_turns(3)
    first = told(thoughts[:2], results, plans, memo)
    again = told(thoughts, {**results, "s1": {**results["s1"], "output": "corrected"}}, plans, memo)
    assert [one is other for one, other in zip(first, again, strict=False)] == [True, False]
    assert "corrected" in str(again[1][1].content) and "all work" in str(again[2][1].content)


def test_what_is_small_is_told_by_how_many_values_it_holds() -> None:
    assert is_small("x" * 10**6) and is_small({"a": [1, {"b": None}]}) and is_small([])
    assert not is_small(list(range(400))) and not is_small([[1] * 20] * 20)
