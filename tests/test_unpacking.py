"""Packed answers: read in whatever pieces they come, and never unpacked beyond what is taken."""

import gzip
import tracemalloc
import zlib
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.errors import ToolFailed
from tools.online import CAP, up_to
from tools.unpacking import Unpacker

MOST = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Any]] = {
    "plain": ("", bytes), "gzip": ("gzip", gzip.compress), "deflate": ("deflate", zlib.compress),
    "deflate without a head": ("deflate", raw_deflate),
    "two members": ("gzip", lambda data: gzip.compress(data[:3]) + gzip.compress(data[3:])),
}  # fmt: skip


@pytest.mark.parametrize("form", PACKERS)
@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(1, 40), min_size=1), most=st.integers(0, 250))
def test_any_bytes_come_back_in_any_pieces_up_to_the_cap(form: str, data: bytes, cuts: list[int], most: int) -> None:
    coding, pack = PACKERS[form]
    packed, unpacker, out, place = pack(data), Unpacker(coding), b"", 0
    for turn in range(len(packed)):
        size = cuts[turn % len(cuts)]
        out += unpacker.push(packed[place : place + size], most - len(out))
        place += size
    assert out == data[:most]


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd", "gzip,identity,deflate", "x"])
def test_what_is_packed_otherwise_or_more_than_once_is_refused(coding: str) -> None:
    with pytest.raises(ToolFailed, match="right would be gzip or deflate, once"):
        Unpacker(coding)


def test_damaged_bytes_are_a_failure_in_words() -> None:
    with pytest.raises(ToolFailed, match="can't be unpacked"):
        Unpacker("gzip").push(b"no gzip at all", 100)


async def test_a_small_answer_that_unpacks_to_very_much_costs_no_more_memory_than_what_is_taken() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(MOST)) for _ in range(200)) + packer.flush()
    reply = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(bomb))
    tracemalloc.start()
    try:
        data = await up_to(CAP, reply)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(data) == CAP + 1 and peak < 8 * CAP, f"{len(bomb)} bytes took {peak}"
