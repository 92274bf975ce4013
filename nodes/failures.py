"""From an exception to its class: what may pass, what won't, and how long to wait."""

import re
from collections.abc import Callable
from typing import Any

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)  # fmt: skip
from tenacity.stop import stop_base

from nodes.meter import Meter
from nodes.wire.waiting import LONGEST_WAIT, asked_wait
from state.errors import ModelFailed, ToolFailed, shorten
from state.result import RETRYABLE, FailureClass

FIRST_WAIT, LONGEST_BACK_OFF = 0.2, 10.0
"""Seconds between tries: the first pause, and the longest that nobody asked for."""
_BY_STATUS: dict[int, FailureClass] = {
    401: "auth", 403: "auth", 404: "not_found", 408: "timeout", 409: "transient", 425: "transient", 429: "rate_limit",
}  # fmt: skip
_BY_NAME: tuple[tuple[str, FailureClass], ...] = (
    ("timeout", "timeout"),
    ("connection", "transient"),
    ("connecterror", "transient"),
    ("protocolerror", "transient"),
    ("filenotfound", "not_found"),
    ("permissionerror", "auth"),
)
_BY_TEXT: tuple[tuple[re.Pattern[str], FailureClass], ...] = (
    (re.compile(r"quota|rate.?limit|too many requests|限流|配额", re.I), "rate_limit"),
    (re.compile(r"timed? ?out|超时", re.I), "timeout"),
    (re.compile(r"unauthori[sz]ed|forbidden|api key|permission denied", re.I), "auth"),
    (re.compile(r"temporar|unavailable|try again|overloaded|connection (reset|refused)", re.I), "transient"),
    (re.compile(r"\b(is|are) (locked|busy)\b", re.I), "transient"),
    (re.compile(r"not found|no such|does not exist|未找到", re.I), "not_found"),
)


def classify(error: BaseException) -> FailureClass:
    """The class of a failure, from what the exception says of itself, then its status, its name, its words."""
    if isinstance(error, ToolFailed | ModelFailed):
        return error.failure
    status = status_of(error)
    if status is not None:
        return _BY_STATUS.get(status, "transient" if status >= 500 else "permanent")
    names = " ".join(kind.__name__ for kind in type(error).__mro__).lower()
    return next((cls for word, cls in _BY_NAME if word in names), None) or by_text(words(error))


def words(error: BaseException) -> str:
    """What an exception says; one that can't say anything says nothing."""
    try:
        return str(error)
    except Exception:
        return ""


def by_text(text: str) -> FailureClass:
    """The class of a failure that is only words."""
    return next((cls for pattern, cls in _BY_TEXT if pattern.search(text)), "permanent")


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, if any."""
    found = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return found if isinstance(found, int) else None


def retry_after(error: BaseException) -> float | None:
    """Seconds that a server asks to wait, if it says so."""
    if (known := getattr(error, "retry_after", None)) is not None:
        return float(known)
    headers = getattr(getattr(error, "response", None), "headers", None)
    return asked_wait(headers, str(error)) if headers else None


def one_line(error: BaseException) -> str:
    """An exception as one line that fits into a report."""
    if isinstance(error, ModelFailed):
        return shorten(str(error), 300)
    return shorten(f"{type(error).__name__}: {said}" if (said := words(error)) else type(error).__name__, 300)


def in_short(error: BaseException) -> str:
    """What went wrong: a tool's failure in its own words, anything else as one line."""
    return str(error) if isinstance(error, ToolFailed) else one_line(error)


def pause_after(tries: int) -> float:
    """Seconds to wait after so many tries, by the same growth as between the tries of one step."""
    return min(LONGEST_BACK_OFF, FIRST_WAIT * 2.0 ** min(tries, 20))


class _Enough(stop_base):
    """Stops where the wait is longer than the run has left, or than anyone should wait, and at the run's own cap."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def __call__(self, retry_state: RetryCallState) -> bool:
        left = self._meter.remaining()
        wait = retry_state.upcoming_sleep
        return wait > LONGEST_WAIT or (left is not None and wait >= left) or not self._meter.may_retry()


def retrying(
    retries: int, meter: Meter, may_retry: Callable[[BaseException], bool] = lambda _: True,
    tell: Callable[[BaseException, float], None] = lambda *_: None,
) -> AsyncRetrying:  # fmt: skip
    """Calls what it is given, and with growing pauses again after what may pass; the last failure is the one raised.

    `tell` is told of each failure that is tried again, and how many seconds later.
    """
    backoff = wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_BACK_OFF) + wait_random(0, FIRST_WAIT)

    def wait(state: RetryCallState) -> float:
        error: Any = state.outcome.exception() if state.outcome else None
        asked = retry_after(error) if error else None
        return backoff(state) if asked is None else asked

    def again(error: BaseException) -> bool:
        return classify(error) in RETRYABLE and getattr(error, "may_retry", True) and may_retry(error)

    def before_sleep(state: RetryCallState) -> None:
        meter.before_retry()
        if state.outcome and (error := state.outcome.exception()):
            tell(error, state.upcoming_sleep)

    return AsyncRetrying(
        stop=stop_after_attempt(retries + 1) | _Enough(meter),
        wait=wait,
        retry=retry_if_exception(again),
        before_sleep=before_sleep,
        reraise=True,
    )
