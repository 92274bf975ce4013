"""Tools that a model carries out: extract, translate and summarise.

The text goes to the model as data, apart from the instruction. Leaves out: any defence against orders in the text.
"""

from typing import Annotated, Any

from pydantic import Field

from state.errors import ToolFailed, shorten
from tools.artefacts import as_json
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv, read

_SECONDS = 120.0
_NOT_THERE = "not in the text"


def tools(settings: ToolSettings) -> list[Tool]:
    """The tools in words; they need a model."""
    return [read(function, uses_model=True, timeout=_SECONDS) for function in (extract, translate, summarise)]


async def extract(question: str, text: str | list[Any] | dict[str, Any], env: ToolEnv) -> str:
    """Answers a question from a text or from another tool's result alone, with a name, a number or a few words."""
    data = as_json(text).strip()
    if not question.strip() or not data:
        empty = "question" if not question.strip() else "text"
        raise ToolFailed(f"{empty} is empty; extract needs a question and a text", "invalid_arguments")
    instructions = {
        "en": f"Question: {question}\nAnswer it from the text alone, with nothing but the name, number or few words "
        f"asked for. If the text does not hold the answer, reply with exactly: {_NOT_THERE}",
        "zh": f"问题：{question}\n只根据文本回答，只写所问的名称、数字或几个词。"
        f"如果文本中没有答案，就只回复：{_NOT_THERE}",
    }
    reply = await _asked(env, "extract", instructions, data)
    if reply.strip(" .。").lower() == _NOT_THERE:
        raise ToolFailed(f"the text does not say: {shorten(question)}", "not_found")
    return reply


async def translate(text: str, language: str, env: ToolEnv) -> str:
    """Translates a text into a language, such as English or 中文."""
    wanted = " ".join(language.split())
    if not wanted or len(wanted) > 40:
        raise ToolFailed(
            f"language {shorten(language)!r} is none; right would be for example: English", "invalid_arguments"
        )
    if not text.strip():
        return text
    instructions = {
        "en": f"Translate the text into {wanted}. Keep names, numbers and line breaks. "
        "Reply with the translation only.",
        "zh": f"把文本翻译成这种语言：{wanted}。名称、数字和换行保持不变。只回复译文。",
    }
    return await _asked(env, "translate", instructions, text)


async def summarise(text: str, env: ToolEnv, sentences: Annotated[int, Field(ge=1, le=20)] = 3) -> str:
    """Summarises a text in at most so many sentences, in the text's own language."""
    if not text.strip():
        raise ToolFailed("text is empty; there is nothing to summarise", "invalid_arguments")
    most = "one sentence" if sentences == 1 else f"at most {sentences} sentences"
    instructions = {
        "en": f"Summarise the text in {most}, in the language of the text. Keep every number as it is and add nothing "
        "that the text does not say. Reply with the summary only.",
        "zh": f"用文本自己的语言总结文本，最多 {sentences} 句。数字照原样保留，不添加文本没有说的内容。只回复摘要。",
    }
    return await _asked(env, "summarise", instructions, text)


async def _asked(env: ToolEnv, name: str, instructions: dict[str, str], text: str) -> str:
    if env.ask is None:
        raise ToolFailed(
            f"{name} is carried out by a model and none is named; set LLM_MODEL_ID or context model=", "permanent"
        )
    reply = (await env.ask(instructions[env.language], text)).strip()
    if not reply:
        raise ToolFailed(f"the model gave an empty reply to {name}", "unusable_reply")
    return reply
