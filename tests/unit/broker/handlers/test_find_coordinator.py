"""Nobody coordinates here, and that is said in the words of each version."""

import pytest

from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from worlds.node import error_of


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("kind", [0, 1])
def test_a_coordinator_is_not_available(node, version, kind):
    response = node.ask(FindCoordinatorRequest(key="g", key_type=kind), version)

    assert (error_of(response), response.node_id) == ("COORDINATOR_NOT_AVAILABLE", -1)


@pytest.mark.parametrize("version", [4, 5, 6])
def test_of_several_each_is_answered(node, version):
    response = node.ask(FindCoordinatorRequest(coordinator_keys=["g", "h"]), version)

    assert [(c.key, error_of(c), c.node_id) for c in response.coordinators] == [
        ("g", "COORDINATOR_NOT_AVAILABLE", -1), ("h", "COORDINATOR_NOT_AVAILABLE", -1),
    ]  # fmt: skip


def test_what_has_no_coordinator_at_all(node):
    old = node.ask(FindCoordinatorRequest(key="g", key_type=9), 3)
    new = node.ask(FindCoordinatorRequest(key_type=9, coordinator_keys=["g"]), 4)

    assert (error_of(old), error_of(new.coordinators[0])) == ("INVALID_REQUEST", "INVALID_REQUEST")
