"""How long a server asks to wait: in seconds, milliseconds, a date, a moment, or in its words."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 30.0
"""Seconds; a server that asks for more is not waited for."""
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SAID = re.compile(
    r"(?:try again|retry|wait)[^.\d]{0,40}?(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec|seconds?|m|min|minutes?)\b"
    r"|retryDelay\W{1,6}(\d+(?:\.\d+)?)(s)",
    re.I,
)
_EPOCH = 1_000_000_000
"""A number above it is a moment since 1970, no span."""


def asked_wait(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait, or None where nothing is said; the header that was made for it goes first."""
    given = {name.lower(): value.strip() for name, value in headers.items()}
    if (ms := _number(given.get("retry-after-ms", ""))) is not None:
        return ms / 1000
    if (named := given.get("retry-after")) and (wait := _span(named)) is not None:
        return wait
    if (reset := _reset(given)) is not None:
        return reset
    found = _SAID.search(text[:4000])
    return None if found is None else float(found[1] or found[3]) * _unit((found[2] or found[4]).lower())


def _reset(given: Mapping[str, str]) -> float | None:
    """The reset of the limit that is used up; without that knowledge the only one there is."""
    resets = {name: _span(value) for name, value in given.items() if re.match(r"(x-)?ratelimit.*reset", name)}
    known = {name: wait for name, wait in resets.items() if wait is not None}
    used_up = [wait for name, wait in known.items() if given.get(name.replace("reset", "remaining")) == "0"]
    if used_up:
        return max(used_up)
    return next(iter(known.values())) if len(known) == 1 else None


def _span(text: str) -> float | None:
    """`20`, `1m30s`, `250ms`, a moment in seconds or milliseconds since 1970, or a date."""
    if (number := _number(text)) is not None:
        if number > _EPOCH:
            return max(0.0, (number / 1000 if number > 100 * _EPOCH else number) - time.time())
        return number
    if re.fullmatch(rf"(?:{_SPAN.pattern})+", text):
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _SPAN.findall(text))
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _unit(word: str) -> float:
    if word.startswith("ms") or word.startswith("milli"):
        return 0.001
    return 60.0 if word.startswith("m") else 1.0
