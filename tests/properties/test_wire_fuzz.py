"""Whatever bytes come in, a decoder gives a message or MalformedMessage, and nothing else.

What does come out of garbage is a proper message: it can be written and read again.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.wire.apis import Api
from andiron.wire.codec import decode_message, decoder, encode_message
from andiron.wire.frame import FrameSplitter
from andiron.wire.header import decode_request_header, decode_response_header
from andiron.wire.primitives import MalformedMessage
from andiron.wire.schema import Message
from properties.wire_samples import all_message_versions, sample

message_versions = st.sampled_from(all_message_versions())
seeds = st.integers(0, 1 << 32)


def declared(api: Api, side: str) -> type[Message]:
    return api.request if side == "request" else api.response


def survive(cls: type[Message], version: int, garbage: bytes) -> None:
    try:
        message, pos = decoder(cls, version)(garbage, 0, len(garbage))
    except MalformedMessage:
        return
    assert 0 <= pos <= len(garbage)
    again = encode_message(message, version)
    assert encode_message(decode_message(cls, version, again), version) == again


@settings(deadline=None)
@given(message_versions, st.binary(max_size=200))
def test_random_bytes_are_a_message_or_malformed(which: tuple[Api, str, int], garbage: bytes) -> None:
    api, side, version = which
    survive(declared(api, side), version, garbage)


@settings(deadline=None)
@given(message_versions, seeds)
def test_a_message_cut_anywhere_is_malformed(which: tuple[Api, str, int], seed: int) -> None:
    api, side, version = which
    cls, rng = declared(api, side), random.Random(seed)
    whole = encode_message(sample(cls, version, rng), version)
    decode = decoder(cls, version)
    for cut in {0, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(20 if whole else 0))} - {-1}:
        if cut == len(whole):
            continue
        with pytest.raises(MalformedMessage):
            decode(whole[:cut], 0, cut)
        with pytest.raises(MalformedMessage):  # the buffer goes on, the frame does not
            decode(memoryview(whole), 0, cut)


@settings(deadline=None)
@given(message_versions, seeds)
def test_a_message_with_flipped_bits_is_a_message_or_malformed(
    which: tuple[Api, str, int], seed: int
) -> None:
    api, side, version = which
    cls, rng = declared(api, side), random.Random(seed)
    whole = bytearray(encode_message(sample(cls, version, rng), version))
    for _ in range(10 if whole else 0):
        whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        survive(cls, version, bytes(whole))


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 70), st.integers(0, 4))
def test_random_headers_are_headers_or_malformed(garbage: bytes, end: int, version: int) -> None:
    end = min(end, len(garbage))
    for buf in (garbage, memoryview(garbage)):
        for read in (
            lambda buf: decode_request_header(buf, 0, end)[-1],
            lambda buf: decode_response_header(buf, 0, end, 18, version)[-1],
            lambda buf: decode_response_header(buf, 0, end, 60, version)[-1],
        ):
            with suppress(MalformedMessage):
                assert read(buf) <= end


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=10), seeds)
def test_frames_come_out_whole_however_the_stream_is_cut(frames: list[bytes], seed: int) -> None:
    rng = random.Random(seed)
    stream = b"".join(len(each).to_bytes(4, "big") + each for each in frames)
    splitter, out, pos = FrameSplitter(), list[bytes](), 0
    while pos < len(stream):
        step = rng.randint(1, 30)
        out += splitter.feed(stream[pos : pos + step])
        pos += step
    assert out == frames
