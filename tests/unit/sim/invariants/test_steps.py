from types import SimpleNamespace

import pytest

from andiron.model.ids import TopicPartition
from andiron.replication.settings import ReplicationSettings
from andiron.sim.invariants.steps import BATCH_MAX, StepsAreShort
from andiron.sim.watcher import Violation


class Log:
    size = 1_000


class Replica:
    topic_id, follows, name = b"t" * 16, True, TopicPartition("t", 0)

    def __init__(self):
        self.log = Log()


class Here:
    """A host, as far as the law looks at it."""

    number, name = 1, "node-1"

    def __init__(self):
        self.settings = SimpleNamespace(replication=ReplicationSettings(replica_fetch_max_bytes=4_000))
        self.replica = Replica()
        self.changed = [self.replica]


@pytest.fixture
def seen():
    law, here = StepsAreShort(), Here()
    law.stepped(here)
    return law, here, here.replica


def test_a_share_and_a_batch_may_come_in_one_step(seen):
    law, here, replica = seen
    replica.log.size += 1_000 + BATCH_MAX
    law.stepped(here)


def test_more_is_noticed(seen):
    law, here, replica = seen
    replica.log.size += 1_001 + BATCH_MAX
    with pytest.raises(Violation, match="node-1 took in 1901 bytes, and 1000 are its share"):
        law.stepped(here)


def test_what_a_leader_writes_is_another_matter(seen):
    law, here, replica = seen
    replica.follows = False
    replica.log.size += 1 << 20
    law.stepped(here)
