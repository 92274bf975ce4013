"""Tools that a model carries out: translate and summarise.

The text goes to the model as data, apart from the instruction. Leaves out: any defence against orders in the text.
"""

from typing import Annotated

from pydantic import Field

from state.errors import ToolFailed, shorten
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv, read

_SECONDS = 120.0


def tools(settings: ToolSettings) -> list[Tool]:
    """The tools in words; they need a model."""
    return [read(function, uses_model=True, timeout=_SECONDS) for function in (translate, summarise)]


async def translate(text: str, language: str, env: ToolEnv) -> str:
    """Translates a text into a language, such as English or 中文."""
    wanted = " ".join(language.split())
    if not wanted or len(wanted) > 40:
        raise ToolFailed(
            f"language {shorten(language)!r} is none; right would be for example: English", "invalid_arguments"
        )
    if not text.strip():
        return text
    instruction = (
        f"Translate the text into {wanted}. Keep names, numbers and line breaks. Reply with the translation only."
    )
    return await _asked(env, "translate", instruction, text)


async def summarise(text: str, env: ToolEnv, sentences: Annotated[int, Field(ge=1, le=20)] = 3) -> str:
    """Summarises a text in at most so many sentences, in the text's own language."""
    if not text.strip():
        raise ToolFailed("text is empty; there is nothing to summarise", "invalid_arguments")
    most = "one sentence" if sentences == 1 else f"at most {sentences} sentences"
    instruction = (
        f"Summarise the text in {most}, in the language of the text. Keep every number as it is and add nothing that"
        " the text does not say. Reply with the summary only."
    )
    return await _asked(env, "summarise", instruction, text)


async def _asked(env: ToolEnv, name: str, instruction: str, text: str) -> str:
    if env.ask is None:
        raise ToolFailed(
            f"{name} is carried out by a model and none is named; set LLM_MODEL_ID or context model=", "permanent"
        )
    reply = (await env.ask(instruction, text)).strip()
    if not reply:
        raise ToolFailed(f"the model gave an empty reply to {name}", "unusable_reply")
    return reply
