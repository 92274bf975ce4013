"""What a server's refusal means: a class, the words for a person, whether and when to ask again."""

import json
import re
from collections.abc import Mapping
from typing import Any

from nodes.wire.waiting import asked_wait
from nodes.wire.words import PLAIN, by_words
from state.errors import ModelFailed, shorten
from state.json_text import from_json
from state.result import FailureClass

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>|<h1[^>]*>(.*?)</h1>", re.I | re.S)
_BY_STATUS: dict[int, FailureClass] = {
    401: "auth", 402: "permanent", 403: "auth", 404: "not_found", 405: "not_found", 408: "timeout", 409: "transient",
    410: "not_found", 413: "too_long", 423: "transient", 424: "transient", 425: "transient", 429: "rate_limit",
    501: "bad_request", 505: "bad_request",
}  # fmt: skip


class WireError(ModelFailed):
    """A server refused, or said something that is no reply; `status_code` is None where there was no refusal.

    `may_retry` is False where the server itself says that asking again is no use.
    """

    def __init__(
        self, message: str, failure: FailureClass, *, status: int | None = None, code: str = "", param: str = "",
        retry_after: float | None = None, may_retry: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(message, failure, retry_after=retry_after)
        self.status_code, self.code, self.param, self.may_retry = status, code, param, may_retry


def bad_response(why: str) -> WireError:
    """A reply that breaks the protocol; the next one may be better."""
    return WireError(why, "transient", code="bad_response")


def refusal(status: int, headers: Mapping[str, str], text: str) -> WireError:
    """The error of an HTTP status."""
    body = _json(text)
    said, code, param = _words(body)
    if body is None:
        said = _page(text)
    if 300 <= status < 400:
        said = f"moved to {shorten(headers.get('location', 'nowhere'))}; set that address as the base URL"
    return WireError(
        f"{status}: {shorten(said, 300)}" if said else f"{status}: no words with it",
        "not_found" if 300 <= status < 400 else judged(status, f"{code} {said}"),
        status=status, code=code, param=param, retry_after=asked_wait(headers, text),
        may_retry=headers.get("x-should-retry", "").lower() != "false",
    )  # fmt: skip


def error_in(record: Mapping[str, Any]) -> WireError | None:
    """The error that stands inside a reply of status 200, as proxies and streams send it."""
    if record.get("object") != "error" and not _is_error(record):
        return None
    said, code, param = _words(record)
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else None
    text = f"{code} {said}"
    plain = by_words(text) or ("bad_request" if "invalid" in text else "transient")
    cls = judged(status, text) if status else plain
    wait = asked_wait({}, json.dumps(record, default=str))
    named = f"{code}: " if code and code not in said else ""
    return WireError(f"{named}{shorten(said, 300) or 'an error without words'}", cls, status=status, code=code,
                     param=param, retry_after=wait)  # fmt: skip


def _is_error(record: Mapping[str, Any]) -> bool:
    if record.get("error") or record.get("errors"):
        return True
    base = record.get("base_resp")  # MiniMax
    if isinstance(base, Mapping) and base.get("status_code"):
        return True
    return not record.get("choices") and any(record.get(key) for key in ("detail", "error_msg", "msg", "message"))


def judged(status: int, text: str) -> FailureClass:
    """The class of a refusal: its words where they are plain, else its status."""
    if status in (401, 404):
        may: tuple[FailureClass, ...] = ("permanent",)
    elif status in (403, 429):
        may = ("permanent", "content_policy", "too_long", "rate_limit")
    else:
        may = ("too_long",) if status >= 500 else PLAIN
    return by_words(text, may) or _BY_STATUS.get(status, "transient" if status >= 500 else "bad_request")


def _json(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return None


def _words(body: Any) -> tuple[str, str, str]:
    """Message, code and parameter, wherever in the body they stand."""
    if isinstance(body, list):
        return _words(body[0]) if body else ("", "", "")
    if not isinstance(body, Mapping):
        return (str(body) if body else "", "", "")
    if inner := next((body[key] for key in ("error", "errors", "base_resp", "detail") if body.get(key)), None):
        said, code, param = _words(inner)
        outer = body.get("message") if not said else None
        return said or str(outer or ""), code or str(body.get("code") or ""), param
    said = next((body[key] for key in ("message", "msg", "error_msg", "status_msg") if body.get(key)), "")
    if isinstance(said, Mapping | list):
        return _words(said)
    named = [str(body[key]) for key in ("code", "status_code", "error_code", "type") if body.get(key)]
    code = named[0] if named and named[0].isdigit() else " ".join(dict.fromkeys(named))
    return str(said) or json.dumps(body, ensure_ascii=False, default=str), code, str(body.get("param") or "")


def _page(text: str) -> str:
    """What a page or a bare text says, without the page."""
    if found := _TITLE.search(text):
        return f"{' '.join((found[1] or found[2]).split())} (a web page)"
    return "a web page" if text.lstrip().startswith("<") else text.strip()
