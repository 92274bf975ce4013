"""Pairs of worlds that differ in one observation: who does not look wins at most one, who looks wins both."""

import asyncio
from collections.abc import Sequence

import pytest

from evals.conditional import Pair, pairs
from evals.oracle import OracleModel
from evals.runner import run_tasks
from nodes.prompts.planner import plan_messages
from tests.support.gold import PLANNING

ONE_PLAN = ("one_shot", "rewoo")
"""Patterns that plan once."""


def won(chosen: Sequence[Pair], pattern: str) -> list[list[bool]]:
    """For each pair, which of its worlds were won."""
    worlds = []
    for place in (0, 1):
        tasks = [pair.worlds[place] for pair in chosen]
        records = asyncio.run(run_tasks(tasks, pattern, settings={"model": OracleModel.of(tasks)}))
        worlds.append([record["success"] for record in records])
    return [list(both) for both in zip(*worlds, strict=True)]


def test_a_planner_that_has_not_looked_cannot_tell_the_worlds_of_a_pair_apart() -> None:
    for pair in pairs(30):
        first, second = pair.worlds
        assert first.text == second.text
        assert [tool.name for tool in first.tools] == [tool.name for tool in second.tools]
        assert [made.output for made in first.expected().values()] != [
            made.output for made in second.expected().values()
        ]
        [system, human] = plan_messages(first.text, {}, {}, [], "en")
        prompt = f"{system.text}\n{human.text}"
        assert OracleModel.of([first]).reply(prompt) == OracleModel.of([second]).reply(prompt)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PLANNING)
def test_who_plans_once_wins_one_world_of_each_pair_and_who_looks_wins_both(pattern: str) -> None:
    chosen = list(pairs(30))
    presumed = [[place == pair.presumed for place in (0, 1)] for pair in chosen]
    assert won(chosen, pattern) == (presumed if pattern in ONE_PLAN else [[True, True]] * len(chosen))


@pytest.mark.slow
def test_one_plan_wins_both_worlds_where_its_steps_have_conditions() -> None:
    chosen = list(pairs(30, guarded=True))
    assert won(chosen, "one_shot") == [[True, True]] * len(chosen)


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert [pair.worlds[0].text for pair in pairs(9)] == [pair.worlds[0].text for pair in pairs(9)]
    assert [pair.worlds[0].text for pair in pairs(9)] != [pair.worlds[0].text for pair in pairs(9, seed=1)]
    assert len({pair.worlds[0].text for pair in pairs(60)}) == 60
