"""From what a server said to what was meant: text, reasoning, calls, a JSON value; or why none of it can be used.

Pure functions; none of them asks a model or runs anything. No repair invents: what was cut or is ambiguous is refused.
"""

from nodes.reading.message import read_message, value_of
from nodes.reading.record import Call, Reading

__all__ = ["Call", "Reading", "read_message", "value_of"]
