import pytest

from andiron.wire.frame import FrameSplitter, frame
from andiron.wire.primitives import MalformedMessage


def test_a_frame_may_come_in_any_pieces() -> None:
    splitter = FrameSplitter()

    assert splitter.feed(b"\0\0") == []
    assert splitter.feed(b"\0\3ab") == []
    assert splitter.feed(b"c\0\0\0\0\0\0\0\1d\0") == [b"abc", b"", b"d"]
    assert splitter.feed(b"\0\0\1e") == [b"e"]


def test_a_size_beyond_the_limit_is_refused_before_its_bytes_come() -> None:
    splitter = FrameSplitter(frame_bytes_max=10)

    assert splitter.feed(b"\0\0\0\x0a") == []
    with pytest.raises(MalformedMessage, match="a frame of 11 bytes, the limit is 10"):
        FrameSplitter(frame_bytes_max=10).feed(b"\0\0\0\x0b")


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="a frame of -1 bytes"):
        FrameSplitter().feed(b"\xff\xff\xff\xff")


def test_a_frame_is_its_parts_behind_their_size() -> None:
    assert frame([b"abc", memoryview(b"de")]) == [b"\0\0\0\5", b"abc", b"de"]
    assert frame([]) == [b"\0\0\0\0"]
