from concurrent.futures import ThreadPoolExecutor

from state.plan_form import plan_form
from state.syntax import parsed


def test_threads_that_parse_and_make_models_at_once_do_not_disturb_one_another() -> None:
    def work(turn: int) -> int:
        if turn % 3 == 0:
            plan_form((f"tool{turn}",))
        return len(list(parsed("+".join(["(1 + 2)"] * 50), "eval").body._fields))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(150))) == {3}
