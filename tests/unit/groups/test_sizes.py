"""What a member may say of itself."""

from __future__ import annotations

import pytest

from andiron.groups.sizes import check_fits
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol

TOO_MUCH = {
    "in a protocol": JoinGroupRequest(protocols=[JoinGroupRequestProtocol("range", bytes(1_000))]),
    "in many": JoinGroupRequest(protocols=[JoinGroupRequestProtocol(str(n), bytes(10)) for n in range(100)]),
    "as a static member": JoinGroupRequest(group_instance_id="i" * 1_001),
    "of topics": ConsumerGroupHeartbeatRequest(subscribed_topic_names=["t" * 100] * 11),
    "of its rack": ConsumerGroupHeartbeatRequest(rack_id="r" * 1_001),
}


@pytest.mark.parametrize("request_", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_member_with_more_metadata_than_a_batch_holds_is_refused(request_):
    check_fits(request_, 2_000)
    with pytest.raises(ProtocolError) as refused:
        check_fits(request_, 1_000)

    assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_request_without_member_metadata_fits():
    check_fits(HeartbeatRequest("g" * 100), 1)
