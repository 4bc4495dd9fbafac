"""A feed, paced."""

from __future__ import annotations

import pytest

from andiron.spark.pipeline.sample_feeder import CHUNK, SampleFeeder


class Recorder:
    def __init__(self, fails: bool = False) -> None:
        self.calls: list[int | str] = []
        self._fails = fails

    def send(self, count: int) -> None:
        if self._fails:
            raise OSError("the broker is gone")
        self.calls.append(count)

    def finish(self) -> None:
        self.calls.append("finish")

    def close(self) -> None:
        self.calls.append("close")


def test_without_a_rate_all_is_sent_at_once_in_chunks() -> None:
    feed = Recorder()
    sampling = SampleFeeder(feed, None, CHUNK + 1)
    sampling.run()

    assert feed.calls == [CHUNK, 1, "finish", "close"]
    assert sampling.sent == CHUNK + 1


def test_with_a_rate_what_is_due_is_sent() -> None:
    feed = Recorder()
    sampling = SampleFeeder(feed, 1_000_000.0, 10)
    sampling.run()

    assert feed.calls == [10, "finish", "close"]


def test_a_feed_that_is_stopped_is_not_finished() -> None:
    feed = Recorder()
    sampling = SampleFeeder(feed, 0.001, None)
    sampling.start()
    sampling.stop()

    assert feed.calls == ["close"]


def test_what_goes_wrong_is_raised_where_it_is_looked_for() -> None:
    sampling = SampleFeeder(Recorder(fails=True), None, 1)
    sampling.run()

    with pytest.raises(OSError, match="the broker is gone"):
        sampling.check()
