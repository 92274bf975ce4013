"""In what order: one pattern a file. `load(name)` gives a compiled graph, `names()` says which there are."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from state.errors import InputError

if TYPE_CHECKING:
    from graphs._bridge import Pattern
    from graphs._picture import Page, Picture, TimeLine
    from graphs._replay import Replayed

_NAMES = (
    "one_shot",
    "plan_and_execute",
    "self_reflection",
    "rewoo",
    "react",
    "plan_and_solve",
    "reflection",
    "workflow",
    "plan_act_reflect",
    "combined",
    "auto",
)
_PLAIN = {"direct": "_direct", "chain_of_thought": "_chain_of_thought", "retry": "_retry"}


def names() -> tuple[str, ...]:
    """The patterns, simplest first."""
    return _NAMES


def plain_ways() -> tuple[str, ...]:
    """What `forethought eval` holds the patterns against; loaded and run as they are, but no patterns to choose."""
    return tuple(_PLAIN)


def load(name: str, *, context: Any = None, checkpointer: Any = None, store: Any = None) -> "Pattern":
    """The compiled graph of a pattern; `context` holds its defaults, `checkpointer` keeps its threads."""
    if name not in (*_NAMES, *_PLAIN):
        raise InputError(f"there is no pattern {name!r}; there are: {', '.join(_NAMES)}")
    module = import_module(f"graphs.{_PLAIN.get(name, name)}")
    pattern: Pattern = module.graph
    if checkpointer is not None or store is not None:
        pattern = module.builder.compile(checkpointer=checkpointer, store=store, name=name)
    return pattern if context is None else pattern.with_context(context)


def replay(recording: str | Path, *, run: str | None = None, context: Mapping[str, Any] | None = None) -> "Replayed":
    """Replays a recorded run (docs/runs.md), the last one of the file or that with the id `run`; touches nothing."""
    from graphs import _loop, _replay

    return _loop.run(lambda: _replay.replay(recording, run=run, context=context))


def check_case(folder: str | Path, *, context: Mapping[str, Any] | None = None) -> str:
    """Replays a case that `forethought export` wrote: what is not as it says, empty if all is (docs/runs.md)."""
    from graphs import _cases

    return _cases.check_case(folder, context)


def fork(graph: "Pattern", config: Any, *, at: int | str, into: Any) -> None:
    """Copies a point of a thread into a new one: a version of the plan, a step, a question, a checkpoint."""
    from graphs import _loop

    _loop.run(lambda: afork(graph, config, at=at, into=into))


async def afork(graph: "Pattern", config: Any, *, at: int | str, into: Any) -> None:
    """As `fork`, for a graph whose saver belongs to this event loop."""
    from graphs import _fork

    await _fork.afork(graph, config, at, into)


def fork_points(graph: "Pattern", config: Any) -> dict[str, str]:
    """Where a thread can be forked by name, and what is there."""
    from graphs import _fork, _loop

    return {point.name: point.what for point in _loop.run(lambda: _fork.fork_points(graph, config))}


def picture(shown: Any, *, version: int | None = None) -> "Picture":
    """A plan, a report, what a pattern returned, or a pattern, drawn; `version` takes one version of a run's plan."""
    from graphs import _picture

    return _picture.picture_of(shown, version)


def timeline(shown: Any) -> "TimeLine":
    """When each step of a report, or of what a pattern returned, ran."""
    from graphs import _picture

    return _picture.TimeLine(_picture.report_in(shown)["results"])


def show(shown: Any) -> "Page":
    """A report, or what a pattern returned, as one page: answer, plan, versions, time line, cost, events."""
    from graphs import _picture

    return _picture.page_of(shown)


def load_ipython_extension(shell: Any) -> None:
    """After `%load_ext graphs` a notebook draws every plan and report; any other dict stays as it is."""
    from graphs import _picture

    shell.display_formatter.formatters["text/html"].for_type(dict, _picture.in_a_notebook)
