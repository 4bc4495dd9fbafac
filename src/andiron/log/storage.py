"""What the disk refuses, as clients are told it: KAFKA_STORAGE_ERROR, with the partition and the reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition


def storage_error(partition: TopicPartition, error: OSError) -> ProtocolError:
    """The error to raise for what the system said."""
    return ErrorCode.KAFKA_STORAGE_ERROR.error(f"{partition}: {error}")


@contextmanager
def storage(partition: TopicPartition) -> Iterator[None]:
    """Around work on a partition's files that is not on the way of every request."""
    try:
        yield
    except OSError as error:
        raise storage_error(partition, error) from error
