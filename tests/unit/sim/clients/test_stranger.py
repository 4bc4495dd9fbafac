from andiron.broker.metadata import raft_request_checks
from andiron.sim.clients.stranger import Stranger
from andiron.sim.clustered import _growing
from unit.sim.trio import Trio


def disturbed(trio):
    """Half a minute of a stranger; returns the highest epoch that came of it."""
    trio.create()
    stranger = Stranger(trio.world, trio.network, "stranger", 200)
    stranger.begin()
    trio.run(30_000)
    stranger.is_closing = True
    trio.run(until=lambda: stranger.is_done)
    return max(host.node.broker.raft.quorum.epoch for host in trio.hosts)


def test_whatever_a_stranger_says_the_leader_leads_on(trio):
    assert disturbed(trio) < 5
    trio.rest()


def test_and_so_where_voters_may_change():
    trio = Trio(properties=_growing)

    assert disturbed(trio) < 5
    trio.rest()


def test_it_would_be_noticed_if_it_were_believed(trio, monkeypatch):
    monkeypatch.setattr(raft_request_checks, "refusal", lambda *_, **__: None)

    assert disturbed(trio) >= 1 << 30
