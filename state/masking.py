"""Keys and passwords out of texts, for what is kept and shown."""

import json
import os
import re
from typing import Any

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_SECRET = re.compile(
    r"\b(sk|pk|gsk|xai|hf|ghp|AIza)[-_][A-Za-z0-9_-]{16,}|(?<=Bearer )\S{8,}|(?<=://)[^\s/\"'?#]+(?=@)"
)
MASKED = "://***@"
"""What an address has in it where a name or a password stood."""
_USER = re.compile(r"(?<=://)[^\s/\"'?#]*(?=@)")
_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password)=)[^&\s\"'#]+", re.IGNORECASE)
_MASKED_QUERY = re.compile(r"[?&][\w.-]+=\*\*\*")


def without_passwords(text: str) -> str:
    """The text with the addresses in it as they may be kept and shown."""
    return _QUERY.sub(r"\1***", _USER.sub("***", text))


def is_masked(value: Any) -> bool:
    """Whether a password was left out of an address anywhere in a JSON value."""
    text = json.dumps(value, default=str)
    return MASKED in text or bool(_MASKED_QUERY.search(text))


def is_secret_name(name: str) -> bool:
    """Whether what is called so is a secret."""
    return bool(_SECRET_NAME.search(name.upper()))


def without_keys(text: str) -> str:
    """The text without the secrets of the environment, and without what looks like one."""
    values = {value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= 8}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***").replace(json.dumps(value)[1:-1], "***")
    return _SECRET.sub("***", text)
