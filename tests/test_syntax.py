import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nodes.answerer import answer_form
from nodes.critic import critique_form
from nodes.drafter import _form
from nodes.reflector import LookDraft, _bound
from state.plan_form import plan_form
from state.syntax import parsed

ANY: Any = {}


def test_threads_that_parse_at_once_do_not_disturb_one_another() -> None:
    def work(turn: int) -> int:
        return len(list(parsed("+".join(["(1 + 2)"] * 50), "eval").body._fields))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(150))) == {3}


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (plan_form, ("no_such_tool",)),
        (critique_form, ("wit",)),
        (answer_form, {"type": "string"}),
        (lambda form: _bound(form, ANY), LookDraft),
        (lambda schema: _form(schema, ["f1"]), None),
    ],
)
def test_a_form_that_is_made_in_a_run_reads_no_file(make: Any, given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """LangGraph's server refuses that in its event loop."""

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a file is looked for")

    names = {"make": make, "given": given}
    code = compile("form = make(given)", "no_absolute_path.py", "exec")
    with monkeypatch.context() as patched:
        for name in ("getcwd", "stat", "listdir"):
            patched.setattr(os, name, refused)
        exec(code, names)
    names["form"].model_json_schema()
