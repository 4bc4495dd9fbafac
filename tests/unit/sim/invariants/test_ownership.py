from types import SimpleNamespace

import pytest

from andiron.sim.invariants import ownership
from andiron.sim.invariants.ownership import PartitionsHaveOneOwner
from andiron.sim.watcher import Violation
from andiron.wire.apis import ApiKey
from andiron.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

TOPIC = b"t" * 16


@pytest.fixture
def told(monkeypatch):
    """Tells a member of a group of two that it is to read partition 0."""
    group = SimpleNamespace(id="crowd", members={"a": None, "b": None})
    monkeypatch.setattr(ownership, "_coordinates", lambda host, group_id: True)
    monkeypatch.setattr(ownership, "_group", lambda host, group_id: group)

    def tell(law, member_id):
        response = ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=3)
        response.assignment = Assignment([TopicPartitions(TOPIC, [0])])
        body = ConsumerGroupHeartbeatRequest("crowd", member_id, 3)
        law.said(None, SimpleNamespace(key=ApiKey.CONSUMER_GROUP_HEARTBEAT, body=body, response=response))

    return tell


def excuse(*revived):
    return SimpleNamespace(is_given=False, has_revived=lambda group_id: group_id in revived)


def test_a_partition_that_a_member_has_not_given_up_is_not_told_to_another(told):
    law = PartitionsHaveOneOwner(excuse("another"))
    told(law, "a")
    with pytest.raises(Violation, match=r"crowd: b is told .* which a has not given up"):
        told(law, "b")


def test_a_group_whose_former_members_came_to_life_again_is_excused(told):
    law = PartitionsHaveOneOwner(excuse("crowd"))
    told(law, "a")
    told(law, "b")
