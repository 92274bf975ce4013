"""Reads the channels of gpt-oss ("harmony"): analysis is reasoning, final is the answer, commentary may hold calls."""

import re
from dataclasses import dataclass, field

from nodes.reading.arguments import call_of
from nodes.reading.objects import next_outside
from nodes.reading.record import Call

_MARK = re.compile(r"<\|(start|channel|message|constrain|end|return|call)\|>")
_STARTS = re.compile(r"<\|(?:channel|start|message)\|>")
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")


@dataclass
class Channels:
    """What was said on each channel."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


def is_harmony(text: str) -> bool:
    """Whether marks of harmony stand in a text, outside its data."""
    return next_outside(_STARTS, text) is not None


def read_channels(text: str) -> Channels:
    """Takes the messages of a reply apart."""
    channels, header, inside, place = Channels(), "", False, 0
    while True:
        mark = next_outside(_MARK, text, place)
        piece = text[place : mark.start()] if mark else text[place:]
        if inside or (not header and piece.strip() and not place):
            _put(channels, header, piece, ended=mark is not None)
        elif piece:
            header += f" {piece}"
        if mark is None:
            return channels
        header = "" if inside and mark[1] != "message" else header
        header += f" <{mark[1]}>" if mark[1] in ("channel", "constrain") else ""
        inside, place = mark[1] == "message", mark.end()


def _put(channels: Channels, header: str, content: str, *, ended: bool) -> None:
    """One message to where it belongs; a call that ends before its arguments began has lost them."""
    channel = header.partition("<channel>")[2].split()
    recipient = _RECIPIENT.search(header)
    if recipient and recipient[1] not in ("user", "assistant"):
        channels.calls.append(call_of(recipient[1], content if ended or content.strip() else "{"))
    elif channel[:1] == ["analysis"]:
        channels.reasoning.append(content.strip())
    else:
        channels.text.append(content.strip())
