"""What a model is told when its reply could not be used, and how a schema is asked for in words."""

from typing import Any

from langchain_core.messages import HumanMessage

from nodes.prompts.fence import fence


def rejected(reply: str, finding: str, language: str) -> HumanMessage:
    """The feedback turn."""
    shown = fence("reply", reply[:4000])
    if language == "zh":
        return HumanMessage(f"你上一次的回复是：\n{shown}\n无法使用：{finding}\n请重新回复，只用要求的形式。")
    return HumanMessage(
        f"Your last reply was:\n{shown}\nIt can't be used: {finding}\nReply again, only in the form asked for."
    )


def schema_in_words(schema: dict[str, Any], language: str) -> str:
    """The request for JSON where an endpoint has no way of its own to ask for it."""
    shown = fence("schema", schema)
    if language == "zh":
        return f"只回复一个符合以下 JSON Schema 的 JSON 对象，不要有其他内容：\n{shown}"
    return f"Reply with one JSON object that fits this JSON Schema, and nothing else:\n{shown}"
