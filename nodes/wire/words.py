"""The words in which servers of several makers say what is wrong, where the status does not say it."""

import re

from state.result import FailureClass


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_WORDS: dict[FailureClass, re.Pattern[str]] = {
    "permanent": _any(
        r"insufficient.?(quota|balance|credit|funds)", "billing", "payment required", "credit balance", "arrearage",
        "out of credits", "欠费", "余额不足",
    ),
    "content_policy": _any(
        r"content.?(filter|policy|management|moderation)", r"data_?inspection", r"moderation|flagged|inappropriate",
        r"safety (system|reasons)", r"prohibited.content", r"responsible.?ai", r"sensitive (content|words?)",
        "敏感|违规|不合规|风控",
    ),
    "too_long": _any(
        r"context.?(length|window|size)", "request too large", r"maximum (context|prompt|input)",
        r"(prompt|input|request|messages?) (is |are )?too (long|large)", r"too many (input )?tokens",
        r"reduce (the )?(length|your prompt)", r"exceeds? the (model'?s? )?(maximum|limit of tokens|available context)",
        r"input length|max_prompt_tokens|string_above_max_length", r"token limit (is )?exceeded",
        "上下文|超过最大长度|长度超",
    ),
    "rate_limit": _any(
        r"rate.?limit", "too many requests", "throttl", r"requests? per (minute|second|day)", "限流|频率|并发"
    ),
    "not_found": _any(
        r"model.?not.?found", "unknown model", "no such model", "invalid model", "模型不存在",
        r"(model|deployment)\b.{0,80}\b(does not exist|not found|is not available|unknown|not exist)",
    ),
    "auth": _any(
        r"(invalid|incorrect|missing|no|wrong|expired) (\w+ )?(api.?key|credentials?|(access|auth\w*|bearer) token)",
        r"api.?key.{0,20}(not valid|invalid)", r"unauthori[sz]ed|authentication",
    ),
}  # fmt: skip
PLAIN: tuple[FailureClass, ...] = tuple(_WORDS)


def by_words(text: str, may: tuple[FailureClass, ...] = PLAIN) -> FailureClass | None:
    """The first of these classes that the words name."""
    return next((cls for cls, pattern in _WORDS.items() if cls in may and pattern.search(text)), None)
