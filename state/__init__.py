"""What flows: plain typed records that serialise to JSON, and the channels that carry them.

Leaves out: anything that calls a model or a tool, and any wiring.
"""
