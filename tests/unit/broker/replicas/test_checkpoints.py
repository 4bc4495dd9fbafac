"""What is written down of the logs here."""

from types import SimpleNamespace

import pytest

from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.hosted_partitions import HostedPartitions
from andiron.log.checkpoints import LOG_STARTS, RECOVERY_POINTS, WATERMARKS
from andiron.model.ids import TopicPartition

A, B, GONE = (TopicPartition("t", index) for index in range(3))


class Saved(dict):
    """Directories that keep what they are to save, by checkpoint."""

    def save(self, checkpoint, offsets, unopened):
        self[checkpoint] = offsets, list(unopened)


def replica(name, start, watermark, flushed):
    return SimpleNamespace(
        name=name, watermark=watermark, log=SimpleNamespace(start=start, flushed_end=flushed)
    )


@pytest.fixture
def saved():
    return Saved()


@pytest.fixture
def checkpoints(saved):
    hosted = HostedPartitions()
    hosted |= {A: replica(A, 0, 5, 7), B: replica(B, 3, 4, 9)}
    hosted.unopened[GONE] = "no space left on device"
    return Checkpoints(saved, hosted)


def test_all_three_are_written_of_all_logs(checkpoints, saved):
    checkpoints.save_all()

    assert saved == {
        RECOVERY_POINTS: ({A: 7, B: 9}, [GONE]),
        WATERMARKS: ({A: 5, B: 4}, [GONE]),
        LOG_STARTS: ({B: 3}, [GONE]),
    }


def test_a_log_that_starts_at_nought_needs_no_word(checkpoints, saved):
    checkpoints.save_starts()

    assert saved == {LOG_STARTS: ({B: 3}, [GONE])}
