"""From a role to its chat models: names become clients, one a loop; objects are taken as they are."""

import asyncio
import importlib
import os
import re
from collections import OrderedDict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel

from nodes.clients import client
from nodes.replay import PREFIX, ReplayModel, read_recording
from state.context import ROLES, Context, env
from state.errors import InputError, shorten
from state.extras import extra

if TYPE_CHECKING:
    from nodes.run import Run

PROVIDERS = {
    "anthropic", "anthropic_bedrock", "azure_ai", "azure_openai", "baseten", "bedrock", "bedrock_converse",
    "cohere", "deepseek", "fireworks", "google_anthropic_vertex", "google_genai", "google_vertexai", "groq",
    "huggingface", "ibm", "litellm", "mistralai", "nvidia", "ollama", "openai", "openrouter", "perplexity",
    "together", "upstage", "xai",
}  # fmt: skip
"""Words before a colon that name a maker and not the model itself; every other colon belongs to the name."""
_replays: OrderedDict[tuple[str, str], ReplayModel] = OrderedDict()
_MOST_REPLAYS = 32

_ADDRESS = re.compile(r"https?://[^/\s]+", re.IGNORECASE)


async def models_for(role: str, run: "Run") -> list[BaseChatModel]:
    """The models that play a role in this run, the first to be asked first."""
    if run.replay:
        return [*run.replay.models(role)]
    return [await _model(chosen, run) for chosen in run.context.models_of(role)]


async def _model(chosen: Any, run: "Run") -> BaseChatModel:
    if isinstance(chosen, BaseChatModel):
        return chosen
    if chosen == "offline":
        from nodes.offline import OfflineModel

        return OfflineModel()
    if chosen.startswith(PREFIX):
        return await _replay(chosen, run.request["id"])
    return await _client(chosen, run.context)


async def embedder_for(run: "Run") -> Any:
    """The model at the endpoint that gives vectors of texts."""
    return await _client(run.context.embedder or "", run.context)


def label(role: str, context: Context) -> str:
    """How the models of a role are called in the report."""
    return ", else ".join(_label(chosen) for chosen in context.models_of(role))


def _label(chosen: Any) -> str:
    if chosen == "offline":
        from nodes.offline import OFFLINE

        return OFFLINE
    return chosen if isinstance(chosen, str) else name_of(chosen)


def name_of(model: Any) -> str:
    """The name of a model, for prices and the report."""
    model = getattr(model, "bound", model)
    return str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)


def check_models(context: Context) -> None:
    """Raises `InputError` where a role's model can't even be asked: a name without an endpoint, or no model at all."""
    if context.embedder is not None:
        if not is_at_endpoint(context.embedder):
            raise InputError(f"embedder: {context.embedder!r} is no model at the endpoint; give the name of one")
        endpoint(context.embedder, context)
    for role in ROLES:
        for chosen in context.models_of(role):
            if isinstance(chosen, str):
                check_name(chosen, context)
            elif not isinstance(chosen, BaseChatModel):
                raise InputError(f"{role}: {shorten(chosen)} is no chat model: give a name or a LangChain chat model")


def check_name(name: str, context: Context) -> None:
    """Raises `InputError` where a model of this name can't be asked here."""
    if name.startswith(PREFIX):
        if not os.path.isfile(file := name.removeprefix(PREFIX)):
            raise InputError(f"{name!r}: there is no file {file!r}")
    elif provider_of(name):
        if find_spec("langchain") is None:
            raise InputError(f"model {name!r} needs {extra('providers')}, and the package of its maker")
    elif name != "offline":
        endpoint(name, context)


def is_at_endpoint(name: str) -> bool:
    """Whether a name is that of a model at the one endpoint."""
    return name != "offline" and not name.startswith(PREFIX) and provider_of(name) is None


def provider_of(name: str) -> str | None:
    """The maker in "maker:model"; "qwen2.5:7b" names none."""
    maker, colon, _ = name.partition(":")
    return maker if colon and maker in PROVIDERS else None


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
    if url and not _ADDRESS.match(url):
        right = "right would be for example http://127.0.0.1:11434/v1"
        raise InputError(f"the address of the model's endpoint is {shorten(url)}; {right}")
    return url or "", key or ""


async def _replay(name: str, request: str) -> ReplayModel:
    """One for a request: what it has given away is gone, in every node of the run."""
    if (name, request) not in _replays:
        _replays[name, request] = ReplayModel(model_name=name, entries=await asyncio.to_thread(read_recording, name))
        while len(_replays) > _MOST_REPLAYS:
            _replays.popitem(last=False)
    return _replays[name, request]


async def _client(name: str, context: Context) -> BaseChatModel:
    if provider_of(name):
        return await client((name,), lambda: _by_provider(name))
    url, key = endpoint(name, context)
    wanted = (name, url, key, str(context.model_timeout))
    return await client(wanted, lambda: _endpoint(name, url, key, context.model_timeout))


def _by_provider(name: str) -> BaseChatModel:
    try:
        model = importlib.import_module("langchain.chat_models").init_chat_model(name)
    except Exception as error:
        raise InputError(f"model {name!r} can't be made: {shorten(str(error), 300)}") from error
    if not isinstance(model, BaseChatModel):
        raise InputError(f"model {name!r} is {type(model).__name__}, no chat model")
    return model


def _endpoint(name: str, url: str, key: str, timeout: float) -> BaseChatModel:
    from nodes.wire.endpoint import OPENAI, Endpoint  # only when a model is asked

    return Endpoint(model_name=name, base_url=url or OPENAI, api_key=key, timeout=timeout).opened()
