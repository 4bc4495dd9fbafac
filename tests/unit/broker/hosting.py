"""A partition on a disk in memory, and how it is led and written to."""

import pytest

from andiron.broker.replicas.partition import Partition
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk

NAME = TopicPartition("t", 0)
ALONE = frozenset({1})


def hosted(**settings):
    log = PartitionLog.open(
        LogFolder(MemoryDisk(), "/data/t-0"),
        TopicIdPartition(b"\x01" * 16, NAME),
        LogSettings(**settings),
        now=0,
    )
    return Partition(NAME, b"\x01" * 16, log)


def leading(epoch=0, replicas=ALONE, isr=ALONE, watermark=0, **settings):
    partition = hosted(**settings)
    partition.lead(LeaderAndIsr(1, epoch, replicas, isr), watermark=watermark, now=0, lag_ms_max=1_000)
    return partition


def produce(partition, *values, acks=-1, now=0, **batch):
    records = build([Record(0, 0, None, value) for value in values or (b"x",)], **batch)
    return partition.append(memoryview(records), acks, 9, now)


def refusal(act, *arguments, **how):
    with pytest.raises(ProtocolError) as caught:
        act(*arguments, **how)
    return caught.value.code
