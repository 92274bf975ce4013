"""The offline planner: a small deterministic grammar of requests behind the chat-model interface, no language model.

It reads the same prompts as a model and answers in the same schemas. What it understands is in docs/offline.md.
Leaves out: everything that needs a language model. There it says so instead of guessing.
"""

from nodes.offline.model import OfflineModel
from nodes.offline.requests import OFFLINE

__all__ = ["OFFLINE", "OfflineModel"]
