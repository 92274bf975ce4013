"""The one error hierarchy: what a *caller* should see is raised, what a *model* should see is a record in state."""

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from state.result import FailureClass  # its module would bring much more with it at every start


class ForethoughtError(Exception):
    """Base of every error raised here; `exit_code` is what the command returns for it."""

    exit_code = 1


class InputError(ForethoughtError, ValueError):
    """Something the caller handed in is wrong; the message says what, the value, and what would be right."""

    exit_code = 2


class SetupError(ForethoughtError):
    """The surroundings are wrong: a shadowed package, a loop that can't be waited for, a missing journal."""

    exit_code = 2


class ToolFailed(ForethoughtError):
    """A tool's own report that it could not do its work.

    `nothing_happened` is a promise: the tool is sure that it left no effect. Without that promise a failed
    *write* counts as an unknown outcome and is never retried. `argument` names what the call lacks, where it fails as
    missing_input, so that a person can be asked for it.
    """

    def __init__(
        self,
        message: str,
        failure: "FailureClass" = "permanent",
        *,
        nothing_happened: bool = True,
        retry_after: float | None = None,
        argument: str = "",
    ) -> None:
        super().__init__(message)
        self.failure: FailureClass = failure
        self.nothing_happened = nothing_happened
        self.argument = argument
        self.retry_after = retry_after


class ModelFailed(ForethoughtError):
    """A model could not be asked, or gave nothing usable; `raw` keeps its last reply."""

    def __init__(
        self, message: str, failure: "FailureClass", *, raw: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.failure: FailureClass = failure
        self.raw = raw
        self.retry_after = retry_after


class BudgetSpent(ForethoughtError):
    """The meter refused a spend; `limit` names which limit, `spent` and `allowed` say by how much.

    `kept` is what of the limit is left, but only for the answer.
    """

    def __init__(self, limit: str, spent: float, allowed: float, kept: float = 0) -> None:
        rest = f", the last {_amount(kept)} are kept for the answer" if kept else ""
        super().__init__(f"limit {limit} reached: {_amount(spent)} of {_amount(allowed)} used{rest}")
        self.limit, self.spent, self.allowed = limit, spent, allowed


def _amount(value: float) -> str:
    """A number as people write it: whole, with two places, or where it is small with two digits."""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}" if value >= 1 else f"{value:.2g}"


class ReferenceMissing(ForethoughtError):
    """A reference points to nothing in the result it names."""

    def __init__(self, reference: str, why: str) -> None:
        super().__init__(f"{reference}: {why}")


def offer(name: str, parts: Iterable[str]) -> str:
    """What may have been meant, else what there is."""
    known = list(parts)
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # nested too deep, a number of too many digits, or a `__repr__` of the value's own that fails
        return f"a value of type {type(value).__name__} that can't be shown"


def shorten(value: Any, limit: int = 120) -> str:
    """Shows a value inside an error message without letting it flood the line."""
    text = value if isinstance(value, str) else _shown(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
