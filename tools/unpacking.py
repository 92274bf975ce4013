"""An answer's bytes, unpacked no further than a cap: a few kB can be gigabytes. Leaves out: br, zstd, nesting."""

import zlib
from collections.abc import AsyncIterator

import httpx

from state.errors import ToolFailed, shorten

_HEADED, _BARE = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS
"""gzip or zlib as its head says; deflate without a head, as some servers send it."""


class Unpacker:
    """Unpacks gzip and deflate piece by piece; `coding` is the header Content-Encoding."""

    def __init__(self, coding: str) -> None:
        names = [name for part in coding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
        if names not in ([], ["gzip"], ["x-gzip"], ["deflate"]):
            told = (
                f"the answer is packed as {shorten(coding)!r}, which is not read; right would be gzip or deflate, once"
            )
            raise ToolFailed(told, "unusable_reply")
        self._packed, self._bare, self._held, self._zlib = bool(names), names == ["deflate"], b"", _open(_HEADED)

    def push(self, piece: bytes, most: int) -> bytes:
        """What is in a piece, at most so many bytes of it."""
        if not self._packed:
            return piece[:most]
        if self._bare:
            piece = self._looked_at(self._held + piece)
        out = bytearray()
        while piece and len(out) < most:
            if self._zlib.eof:  # a file of several members
                self._zlib = _open(_HEADED)
            out += self._unpacked(piece, most - len(out))
            piece = self._zlib.unconsumed_tail or self._zlib.unused_data
        return bytes(out)

    def _looked_at(self, start: bytes) -> bytes:
        """The first bytes, once there are enough to see whether they are a head."""
        self._held = start if len(start) < 2 else b""
        if self._held:
            return b""
        self._bare = False
        headed = start[:2] == b"\x1f\x8b" or (start[0] & 15 == 8 and int.from_bytes(start[:2]) % 31 == 0)
        self._zlib = _open(_HEADED if headed else _BARE)
        return start

    def _unpacked(self, piece: bytes, most: int) -> bytes:
        try:
            return self._zlib.decompress(piece, most)
        except zlib.error as error:
            raise ToolFailed(f"the answer can't be unpacked: {error}", "unusable_reply") from error


def _open(bits: int) -> "zlib._Decompress":
    return zlib.decompressobj(bits)


async def unpacked(reply: httpx.Response, most: int) -> AsyncIterator[bytes]:
    """The body piece by piece; it ends once more than `most` bytes came."""
    unpacker, left = Unpacker(reply.headers.get("content-encoding", "")), most + 1
    async for piece in reply.aiter_raw():
        data = unpacker.push(piece, left)
        left -= len(data)
        yield data
        if left <= 0:
            return
