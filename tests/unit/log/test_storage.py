"""A disk that refuses is a KAFKA_STORAGE_ERROR that says of what."""

import pytest

from andiron.log.storage import storage
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

ORDERS = TopicPartition("orders", 3)


def test_what_the_disk_refuses_names_the_partition_and_the_reason():
    with pytest.raises(ProtocolError, match=r"orders-3: .*No space left") as caught, storage(ORDERS):
        raise OSError(28, "No space left on device")
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_other_errors_pass_by():
    with pytest.raises(KeyError), storage(ORDERS):
        raise KeyError
