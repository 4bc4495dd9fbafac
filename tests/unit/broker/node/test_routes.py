"""Ways through a node; what all of them have in common is tested in test_node.py."""

from __future__ import annotations

import pytest

from andiron.broker.handlers import HANDLERS
from andiron.broker.node.routes import LARGE, Route, unserved
from andiron.model.effects import Close, Reply
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse


def test_a_response_is_the_same_in_slices_and_in_one_piece():
    route = Route.of(HANDLERS[ApiKey.FIND_COORDINATOR], 4)
    response = FindCoordinatorResponse(
        coordinators=[Coordinator(str(n), n, "host", 9092) for n in range(3_000)]
    )
    work = route.parts_in_slices(7, response)
    slices = 0
    try:
        while True:
            next(work)
            slices += 1
    except StopIteration as end:
        assert end.value == route.parts(7, response)
    assert slices == 3


def test_an_answer_has_an_end():
    route = Route.of(HANDLERS[ApiKey.FIND_COORDINATOR], 4)
    large = Coordinator("k", 1, "h" * 32_000, 9092)

    with pytest.raises(ProtocolError, match="more than 104857600 bytes"):
        for _ in route.parts_in_slices(7, FindCoordinatorResponse(coordinators=[large] * 10_000)):
            pass


def test_records_stay_in_their_frame():
    assert Route.of(HANDLERS[ApiKey.PRODUCE], 9).slices_from > 100 << 20
    assert Route.of(HANDLERS[ApiKey.METADATA], 9).slices_from == LARGE


def test_what_is_not_served_is_hung_up_on_but_for_api_versions():
    assert isinstance(unserved(1, 1, ApiKey.API_VERSIONS, 99, 5), Reply)
    assert unserved(1, 1, ApiKey.FETCH, 99, 5) == Close(1, "Fetch (key 1) in version 99 is not served")
    assert unserved(1, 1, 999, 0, 5) == Close(1, "an unknown API (key 999) in version 0 is not served")
