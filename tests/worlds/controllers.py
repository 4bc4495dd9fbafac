"""Three nodes of which a test asks one at its controller's door, as another node would."""

import pytest

from andiron.controller.features import SUPPORTED
from andiron.wire.apis import APIS
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from worlds.cluster import CLUSTER_ID
from worlds.cluster_client import create, small_cluster
from worlds.node import Closed, error_of

NODES = [1, 2, 3]
METADATA = "__cluster_metadata"

__all__ = ["CLUSTER_ID", "METADATA", "NODES", "Doors", "every_version_of", "registering", "three"]


def every_version_of(request):
    """A test for each version of a request's API."""
    first, last = APIS[request.__api_key__].versions
    return pytest.mark.parametrize("version", range(first, last + 1))


def registering(broker=7, incarnation=b"i" * 16, cluster=CLUSTER_ID):
    """A broker that asks to be taken in."""
    return BrokerRegistrationRequest(
        broker,
        cluster,
        incarnation,
        [Listener("PLAINTEXT", f"node-{broker}", 9092, 0)],
        [Feature(name, *levels) for name, levels in SUPPORTED.items()],
        log_dirs=[bytes([broker]) * 16],
    )


class Doors:
    """A cluster with topic t, led by node 1, and how its controllers are asked."""

    def __init__(self, **more):
        self.cluster = small_cluster(**more)
        self.topic_id = create(self.cluster, "t", (1, 2, 3))

    @property
    def leader(self):
        return self.cluster.controller

    @property
    def follower(self):
        return next(number for number in NODES if number != self.leader)

    def raft(self, number):
        return self.cluster.broker(number).raft

    @property
    def epoch(self):
        return self.raft(self.leader).quorum.epoch

    def epoch_of(self, number):
        """A broker's, as it registered."""
        return self.cluster.broker(number).lifecycle.epoch

    def ask(self, number, request, version=None):
        """Ask at the controller's door; the answer."""
        return self._given(self.cluster.answer(number, request, version, listener="CONTROLLER"))

    def ask_as_client(self, number, request, version=None):
        return self._given(self.cluster.answer(number, request, version))

    def _given(self, answer):
        if answer is None:
            raise Closed("the node hung up")
        return answer

    def error(self, number, request, version=None):
        return error_of(self.ask(number, request, version))


@pytest.fixture
def three():
    return Doors()
