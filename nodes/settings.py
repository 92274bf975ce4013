"""How every node gets at what the run may set."""

from typing import Any

from langgraph.runtime import Runtime

from state.context import Context


def get_context(runtime: Runtime[Any]) -> Context:
    """The run's own `Context`; a foreign graph's, or none, counts as the defaults.

    A compiled pattern puts its bound default there itself, so nothing else has to be asked.
    """
    return runtime.context if isinstance(runtime.context, Context) else Context()
