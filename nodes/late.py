"""What a write comes to after its time-out, where nobody waits for it any more: it goes into the journal."""

from contextlib import suppress
from typing import Any

from nodes.calls import error_in
from nodes.failures import in_short
from nodes.run import Run
from state.errors import SetupError, ToolFailed
from state.plain import plain
from tools.at_work import Left


def left_of(run: Run, key: str) -> Left | None:
    """Keeps what a write comes to when it is left; a read is of no interest then."""
    if not key:
        return None
    journal = run.journal  # as it is set now

    def tell(output: Any, error: BaseException | None) -> None:
        with suppress(SetupError):  # then nobody knows, as before
            if said := _wrong(output, error):
                journal.failed_late(key, said)
            else:
                journal.finish_late(key, plain(output))

    return Left(tell)


def _wrong(output: Any, error: BaseException | None) -> str:
    if error is None:
        return error_in(plain(output))
    promised = isinstance(error, ToolFailed) and error.nothing_happened
    return in_short(error) + ("; the tool promises that nothing happened" if promised else "")
