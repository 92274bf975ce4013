"""Serves recorded replies back: the same requests get the same replies; the first that differs fails and says how.

Leaves out: tools and people, which `nodes/recorded.py` serves with it when a whole run is replayed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from nodes.wire.errors import WireError
from nodes.wire.waiting import LONGEST_WAIT
from state.errors import InputError, ModelFailed, shorten
from state.json_text import from_json
from tools.given_file import text_of

_MOST = 1_000_000_000
"""Bytes of a recording."""
Entry = dict[str, Any]
PREFIX = "replay:"


class ReplayModel(BaseChatModel):
    """The models of one recorded run, all roles of it; or one of them, if `only` it is to be served."""

    model_name: str
    entries: list[Entry]
    only: str | None = None
    speaks_openai: bool = True
    _used: set[int] = PrivateAttr(default_factory=set)
    _tell: Callable[[str], None] = PrivateAttr(default_factory=lambda: _nobody)
    _serve: Callable[[Entry], None] = PrivateAttr(default_factory=lambda: _nobody)

    def share(self, used: set[int], tell: Callable[[str], None], serve: Callable[[Entry], None]) -> "ReplayModel":
        """Takes from the same entries as others, tells of what differs and of each entry that it serves."""
        self._used, self._tell, self._serve = used, tell, serve
        return self

    @property
    def _llm_type(self) -> str:
        return "replay"

    def next_rung(self) -> str | None:
        """The rung of the next typed request that is left."""
        return next((entry["rung"] for place, entry in self._left() if entry.get("rung")), None)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Keeps the tools, to compare them."""
        return self.bind(tools=list(tools), tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        from nodes.recording import request_of

        entry = self._take(request_of(messages, kwargs))
        if error := entry.get("error"):
            asked = error["retry_after"] or 0.0  # a wait that was short enough to be waited for is not waited again
            raise WireError(
                error["message"], error["class"], status=error["status"], may_retry=error["may_retry"],
                retry_after=asked if asked > LONGEST_WAIT else 0.0,
            )  # fmt: skip
        [message] = messages_from_dict([entry["reply"]])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)

    def _left(self) -> list[tuple[int, Entry]]:
        left = [(place, entry) for place, entry in enumerate(self.entries) if place not in self._used]
        return [one for one in left if self.only in (None, one[1]["model"])]

    def _take(self, asked: Mapping[str, Any]) -> Entry:
        """The first reply that is left for this very request: steps that run side by side may ask in another order."""
        left = self._left()
        for place, entry in left:
            if entry["request"] == asked:
                self._used.add(place)
                self._serve(entry)
                return entry
        why = self._difference(left, asked)
        self._tell(why)
        raise ModelFailed(f"{self.model_name}: {why}", "permanent")

    def _difference(self, left: list[tuple[int, Entry]], asked: Mapping[str, Any]) -> str:
        if not left:
            return "nothing more was recorded, but another request came"
        place, entry = next((one for one in left if _role(one[1]["request"]) == _role(asked)), left[0])
        return f"request {place + 1} is not the one recorded: {difference(entry['request'], asked)}"


def read_recording(name: str) -> list[Entry]:
    """The exchanges with models of the last run in a file; `name` begins with `replay:`."""
    file = name.removeprefix(PREFIX)
    entries = [entry for entry in read_lines(file) if "request" in entry]
    if not entries:
        raise InputError(f"{name!r}: {file!r} holds no recorded request")
    return [entry for entry in entries if entry["run"] == entries[-1]["run"]]


def read_lines(file: str) -> list[Entry]:
    """Every whole line of a recording to replay; a process that was killed may leave half a line."""
    text = text_of(file, f"replay: the recording {file!r}", _MOST)
    try:
        found = [_entry(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise InputError(f"replay: {file!r} is no recording that can be read: {error}") from error
    if not (entries := [entry for entry in found if entry]):
        raise InputError(f"replay: {file!r} is no recording: no line of it is a JSON object with the id of a run")
    return entries


def _entry(line: str) -> Entry | None:
    try:
        value = from_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "run" in value else None


def difference(recorded: Any, asked: Any, where: str = "") -> str:
    """The first place at which two JSON values differ, with both sides."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in sorted({*recorded, *asked}, key=lambda key: (key != "messages", key)):
            if recorded.get(key) != asked.get(key):
                return difference(recorded.get(key), asked.get(key), f"{where}.{key}".lstrip("."))
    if isinstance(recorded, list) and isinstance(asked, list):
        for place, (old, new) in enumerate(zip(recorded, asked, strict=False)):
            if old != new:
                return difference(old, new, f"{where}[{place}]")
        return f"{where} has {len(asked)} items instead of {len(recorded)}"
    if isinstance(recorded, str) and isinstance(asked, str):
        start = next((i for i, (a, b) in enumerate(zip(recorded, asked, strict=False)) if a != b), 0)
        start = start or min(len(recorded), len(asked)) * recorded.startswith(asked[:1])
        recorded, asked, where = (
            recorded[max(0, start - 20) :],
            asked[max(0, start - 20) :],
            f"{where}, character {start}",
        )
    return f"{where}: recorded {shorten(recorded)!r}, now {shorten(asked)!r}"


def _nobody(told: Any) -> None:
    """Who is told where nobody listens."""


def _role(request: Mapping[str, Any]) -> str:
    return str(request["messages"][0].get("content", "")).split("\n", 1)[0]
