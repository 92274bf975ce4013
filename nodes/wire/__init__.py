"""The OpenAI chat-completions protocol as servers really speak it: bytes to records, records to one message, errors.

Own, because the usual client loses what matters here: it takes a stream without an end for complete, completes cut
arguments, drops reasoning, and joins repeated names (`docs/decisions/`). Only `nodes/models.py` makes an `Endpoint`.
"""
