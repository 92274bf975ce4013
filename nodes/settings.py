"""How every node gets at what the run may set."""

from typing import Any

from langgraph.runtime import Runtime

from state.context import Context
from tools.catalogue import Catalogue, catalogue
from tools.settings import tool_settings
from tools.sources import prepare

TESTER = "run_tests"
"""The tool that runs the tests of an answer."""


def get_context(runtime: Runtime[Any]) -> Context:
    """The run's own `Context`; a foreign graph's, or none, counts as the defaults.

    A compiled pattern puts its bound default there itself, so nothing else has to be asked.
    """
    return runtime.context if isinstance(runtime.context, Context) else Context()


async def prepare_tools(context: Context) -> None:
    """Loads the tools that stand elsewhere, within the run's limit of time and so that a cancellation reaches it."""
    await prepare(context.tools, tool_settings(context), within=context.limits.seconds)


def tools_of(context: Context) -> Catalogue:
    """The tools of a run: those in use, and what runs the tests of an answer where there are any."""
    settings = tool_settings(context)
    found = catalogue(context.tools, settings)
    if context.tests and TESTER not in found:
        return Catalogue([*found.values(), *catalogue([TESTER], settings).values()])
    return found
