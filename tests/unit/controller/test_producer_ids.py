"""Producer ids are given out in blocks, each once for ever."""

from __future__ import annotations

import pytest

from andiron.controller.records import ProducerIdsRecord
from andiron.model.errors import Refused
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from controller.cluster import Cluster


def test_blocks_follow_each_other_whoever_asks():
    cluster = Cluster(2)

    blocks = [cluster.allocate_producer_ids(broker) for broker in (1, 2, 1)]

    assert blocks == [range(0, 1000), range(1000, 2000), range(2000, 3000)]
    assert cluster.image.next_producer_id == 3000


def test_only_a_registered_broker_is_given_ids():
    with pytest.raises(Refused, match="broker 9 is not registered"):
        Cluster().run(AllocateProducerIdsRequest(9, 0))


def test_ids_do_not_run_over():
    cluster = Cluster()
    cluster.append([ProducerIdsRecord(1, 0, (1 << 63) - 1000)])

    with pytest.raises(Refused, match="used up"):
        cluster.allocate_producer_ids(1)


def test_a_broker_asks_under_its_present_epoch():
    cluster = Cluster(1)
    epoch = cluster.image.brokers[1].epoch

    blocks = [cluster.run(AllocateProducerIdsRequest(1, epoch)) for _ in range(2)]

    assert blocks == [AllocateProducerIdsResponse(0, 0, start, 1000) for start in (0, 1000)]
    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        cluster.run(AllocateProducerIdsRequest(1, epoch - 1))
