from andiron.broker.replicas.follower_fetch import fetch_partition, fetch_partition_data
from andiron.model.errors import ErrorCode
from andiron.replication.follower import Position
from andiron.wire.messages.fetch import EpochEndOffset, PartitionData


def test_a_fetch_says_where_a_log_ends_and_starts_and_in_which_epoch():
    said = fetch_partition(3, 7, Position(100, 6, 40), 1 << 20)

    assert (said.partition, said.current_leader_epoch, said.fetch_offset) == (3, 7, 100)
    assert (said.last_fetched_epoch, said.log_start_offset, said.partition_max_bytes) == (6, 40, 1 << 20)


def test_an_answer_as_a_follower_takes_it():
    said = PartitionData(0, 0, high_watermark=9, log_start_offset=3, records=b"batch")

    assert fetch_partition_data(said) == (ErrorCode.NONE, b"batch", 9, 3, None)


def test_an_answer_that_says_where_the_logs_part():
    said = PartitionData(0, 0, high_watermark=9, diverging_epoch=EpochEndOffset(4, 7), records=None)

    assert fetch_partition_data(said).diverging == (4, 7)
    assert fetch_partition_data(said).records == b""
