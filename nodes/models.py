"""From a role to a chat model: names become clients, one a loop; objects are taken as they are."""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel

from state.context import ROLES, Context, env
from state.errors import InputError, shorten

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, ...], BaseChatModel]] = WeakKeyDictionary()


async def model_for(role: str, context: Context) -> BaseChatModel:
    """The model that plays a role in this run."""
    chosen = context.model_of(role)
    if isinstance(chosen, BaseChatModel):
        return chosen
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


def check_models(context: Context) -> None:
    """Raises `InputError` where a role's model can't even be asked: a name without an endpoint, or no model at all."""
    for role in ROLES:
        chosen = context.model_of(role)
        if isinstance(chosen, str) and chosen != "offline":
            endpoint(chosen, context)
        elif not isinstance(chosen, str | BaseChatModel):
            raise InputError(f"{role}: {shorten(chosen)} is no chat model: give a name or a LangChain chat model")


def endpoint(name: str, context: Context) -> tuple[str, str]:
    """Address and key of the endpoint; an OpenAI key is never sent to an address that is not OpenAI's own variable."""
    url = context.base_url or env("LLM_BASE_URL")
    key = env("LLM_API_KEY") if url else env("LLM_API_KEY", "OPENAI_API_KEY")
    url = url or env("OPENAI_BASE_URL")
    if not key and not url:
        raise InputError(
            f"model {name!r} needs an endpoint: set LLM_API_KEY (and LLM_BASE_URL unless it is OpenAI), "
            'or use model "offline"'
        )
    return url or "", key or ""


async def _client(name: str, context: Context) -> BaseChatModel:
    url, key = endpoint(name, context)
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
