"""From a role to a chat model: names become clients, one a loop; objects are taken as they are."""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel

from state.context import Context, env
from state.errors import InputError, shorten

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, ...], BaseChatModel]] = WeakKeyDictionary()


async def model_for(role: str, context: Context) -> BaseChatModel:
    """The model that plays a role in this run."""
    chosen = context.model_of(role)
    if isinstance(chosen, BaseChatModel):
        return chosen
    if not isinstance(chosen, str):
        raise InputError(f"{shorten(chosen)} is no chat model: give a name or a LangChain chat model")
    if chosen == "offline":
        from nodes.offline import OfflineModel

        return OfflineModel()
    return await _client(chosen, context)


def label(role: str, context: Context) -> str:
    """How the model of a role is called in the report."""
    chosen = context.model_of(role)
    if chosen == "offline":
        from nodes.offline import OFFLINE

        return OFFLINE
    return chosen if isinstance(chosen, str) else str(name_of(chosen))


def name_of(model: Any) -> str:
    """The name of a model, for prices and the report."""
    return str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)


async def _client(name: str, context: Context) -> BaseChatModel:
    url = context.base_url or env("LLM_BASE_URL", "OPENAI_BASE_URL") or ""
    key = env("LLM_API_KEY", "OPENAI_API_KEY") or ""
    if not key and not url:
        raise InputError(
            f"model {name!r} needs an endpoint: set LLM_API_KEY (and LLM_BASE_URL unless it is OpenAI), "
            'or use model "offline"'
        )
    mine = _clients.setdefault(asyncio.get_running_loop(), {})
    wanted = (name, url, key, str(context.model_timeout))
    if wanted not in mine:
        mine[wanted] = await asyncio.to_thread(_open_ai, name, url, key, context.model_timeout)
    return mine[wanted]


def _open_ai(name: str, url: str, key: str, timeout: float) -> BaseChatModel:
    from langchain_openai import ChatOpenAI  # a second of import: only when a model is asked

    return ChatOpenAI(
        model=name, base_url=url or None, api_key=key or "none", max_retries=0, timeout=timeout, stream_usage=True
    )
