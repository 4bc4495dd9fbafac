from __future__ import annotations

import os
import subprocess
import sys

import pytest

from andiron.edge import native

WORDS = ["MUTE", "UNMUTE", "GRANT", "LEAVE_ROOM", "TELL_SENT", "RELEASE", "CLOSE"]
KINDS = [
    "ENDED", "BAD_SIZE", "BROKEN", "UNSENT", "SLICE_LOST", "ROOM_WANTED", "ROOM_LEFT", "SENT_ALL", "RELEASED", "CLOSED",
]  # fmt: skip


@pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")
def test_both_sides_mean_the_same_by_a_word():
    assert {each: getattr(native, each) for each in [*WORDS, *KINDS]} == {
        each: getattr(native._native, each) for each in [*WORDS, *KINDS]
    }


@pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")
def test_a_seat_that_nobody_has_is_refused():
    channel = native.Channel(1)
    try:
        for ask in (channel.sent, channel.received, channel.vacate, lambda seat: channel.put(seat, [b"x"])):
            for seat in (-1, 0, 1 << 20):
                with pytest.raises(IndexError):
                    ask(seat)
        with pytest.raises(IndexError):
            channel.adopt(0, -1, 100, 0, b"")
    finally:
        channel.stop()


def test_it_can_be_switched_off():
    told = subprocess.run(
        [sys.executable, "-c", "from andiron.edge import native; print(native.Channel)"],
        env=os.environ | {"ANDIRON_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "None\n"
