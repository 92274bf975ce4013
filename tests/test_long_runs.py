"""What stands in the prompts of long runs: evidence in short where there is too much of it, and the same beginning."""

from typing import Any

from nodes.drafting import new_steps
from nodes.memo import Memo
from nodes.prompts.fence import read_fences
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
        short, whole = told(thoughts[:turns], some, plans, memo)
        messages = turn_messages("do it", {}, {}, [], whole, "en", in_short=short)
        shown.append("\n".join(str(message.content) for message in messages))
    return shown


def test_the_prompt_of_a_turn_goes_on_where_the_last_one_ended_but_for_few_turns() -> None:
    shown = prompts(300)
    anew = [n for n in range(1, len(shown)) if not shown[n].startswith(shown[n - 1])]
    assert 1 <= len(anew) <= 16
    assert max(map(len, shown[:200])) <= ROOM + 5_000
    assert all(f"{n}: {LONG}" in shown[-1] for n in range(300 - LAST, 300))


def test_turns_in_short_keep_all_that_was_said_and_the_beginning_of_each_result_and_are_followed_by_the_others() -> (
    None
):
    plans, results = chain(60)
    thoughts = in_turns(60)
    thoughts[0] |= {"text": "first this", "marks": [{"kind": "assumption", "text": "it is so", "id": "a1.1"}]}
    results["s1"] = {**results["s1"], "status": "degraded", "note": "the fallback value stands in"}
    short, whole = told(thoughts, results, plans, Memo())
    blocks = read_fences("\n".join(short))
    assert [*blocks] == [f"s{n}" for n in range(len(short))] and len(short) + len(whole) == 60
    assert blocks["s0"]["thought"] == "first this" and blocks["s0"]["marks"][0]["id"] == "a1.1"
    assert blocks["s1"]["note"] == "the fallback value stands in" and blocks["s1"]["status"] == "degraded"
    assert blocks["s2"]["tool"] == "work" and blocks["s2"]["args"] == {"n": 2, "text": "${steps.s1}"}
    assert all(block["output"].startswith(f"{n}: all work") for n, block in enumerate(blocks.values()))
    assert all(len(block["output"]) < 200 for block in blocks.values())
    assert LONG in str(whole[0][1].content)


def test_a_plan_that_a_turn_asked_for_is_told_in_short_as_well() -> None:
    plans, results = chain(60)
    asked: Any = {"turn": 1, "text": "it depends", "marks": [], "next": "plan", "step": ""}
    acted: list[Any] = [{**one, "step": f"s{51 + n}"} for n, one in enumerate(in_turns(LAST))]
    short, whole = told([asked, *acted], results, plans, Memo())
    assert len(short) == 1 and len(whole) == LAST
    block = read_fences(short[0])["plan1"]
    assert block["thought"] == "it depends" and len(block["results"]) == 60 - LAST
    assert all(len(one["output"]) < 200 for one in block["results"].values())


def test_a_turn_is_put_into_words_once_and_anew_where_its_result_is_another() -> None:
    (plans, results), memo, thoughts = chain(3), Memo(), in_turns(3)
    _, first = told(thoughts[:2], results, plans, memo)
    other = results | {"s1": results["s1"] | {"output": "corrected"}}
    _, again = told(thoughts, other, plans, memo)
    assert [one is other for one, other in zip(first, again, strict=False)] == [True, False]
    assert "corrected" in str(again[1][1].content) and "all work" in str(again[2][1].content)


def test_what_is_small_is_told_by_how_many_values_it_holds_and_how_long_its_texts_are() -> None:
    assert not is_small("x" * 10**6) and is_small("x" * 10**4) and is_small({"a": [1, {"b": None}]}) and is_small([])
    assert not is_small(list(range(400))) and not is_small([[1] * 20] * 20)
