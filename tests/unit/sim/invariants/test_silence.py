from types import SimpleNamespace

import pytest

from andiron.model.awake import AWAY_MS
from andiron.model.effects import Received, Woken
from andiron.quorum.roles import Role
from andiron.quorum.settings import QuorumSettings
from andiron.sim.invariants.silence import SilenceIsHeard
from andiron.sim.watcher import Violation

PATIENCE_MS = 2_000


class Here:
    """A host, as far as the law looks at it, and the quorum of its node."""

    number, name = 1, "node-1"

    def __init__(self):
        self.world, self.now, self.event = self, 0, Received
        self.paused_at = self.resumed_at = -1
        self.settings = SimpleNamespace(quorum=QuorumSettings(controller_quorum_fetch_timeout_ms=PATIENCE_MS))
        self.role, self.knows_all_voters, self.deadline = Role.FOLLOWER, True, PATIENCE_MS
        raft = SimpleNamespace(quorum=self)
        self.node = SimpleNamespace(broker=SimpleNamespace(raft=raft))

    def next_deadline(self):
        return self.deadline

    def give_up(self, at):
        self.now, self.role, self.event = at, Role.PROSPECTIVE, Woken


@pytest.fixture
def heard():
    law, here = SilenceIsHeard(), Here()
    law.stepped(here)
    return law, here


def test_who_was_awake_all_the_time_may_give_its_leader_up(heard):
    law, here = heard
    here.give_up(PATIENCE_MS)
    law.stepped(here)


def test_who_was_paused_may_not(heard):
    law, here = heard
    here.paused_at, here.resumed_at = 500, 2_400
    here.give_up(2_400)
    with pytest.raises(Violation, match=f"gives up its leader after {500 + AWAY_MS} ms of {PATIENCE_MS}"):
        law.stepped(here)


def test_a_pause_before_it_was_last_heard_is_another_matter(heard):
    law, here = heard
    here.paused_at, here.resumed_at, here.now, here.deadline = 500, 2_400, 2_400, 4_400
    law.stepped(here)
    here.give_up(4_400)
    law.stepped(here)


def test_a_connection_that_broke_is_news_and_no_silence(heard):
    law, here = heard
    here.now, here.knows_all_voters = 100, False
    law.stepped(here)
    here.give_up(200)
    law.stepped(here)
