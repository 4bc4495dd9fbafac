import pytest

from andiron.model.effects import Reply
from andiron.sim.exchange import Exchange
from andiron.sim.link import joined
from andiron.sim.watcher import Violation
from andiron.wire.messages.api_versions import ApiVersionsRequest
from unit.sim.several import Puppets


def test_replies_leave_in_the_order_of_the_requests(quiet):
    link, said = quiet.client.link, []
    for ticket in (1, 2):
        link._unanswered[ticket] = Exchange(ApiVersionsRequest("sim", "1"), 3, ticket, quiet.world.now)
    link._post = lambda exchange, parts: said.append(exchange.correlation)
    link.reply(2, [b""])
    assert said == []
    link.reply(1, [b""])
    assert said == [1, 2]


def test_a_ticket_is_answered_once(quiet):
    quiet.ask(ApiVersionsRequest("sim", "1"), 3)
    with pytest.raises(Violation, match="answered again"):
        quiet.host._carry_out([Reply(quiet.client.link.number, 1, [b"again"])])


def test_what_is_sent_during_a_rift_arrives_when_it_heals_and_in_order(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.network.delay_ms_max = 200
    puppets.call(1, timeout_ms=60_000)
    puppets.run(1_000)
    for token in range(2, 6):
        puppets.call(token, timeout_ms=60_000)
    puppets.network.part(["node-1"], ["node-2"])
    puppets.run(1_000)
    assert len(puppets.node(2).told("Received")) == 1
    for token in range(6, 9):
        puppets.call(token, timeout_ms=60_000)
    puppets.network.heal()
    puppets.run()
    assert [event.token for event in puppets.node(1).told("Answered")] == list(range(1, 9))


def test_a_rift_may_let_requests_pass_and_no_answers(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.call(1)
    puppets.run(500)
    puppets.network.part(["node-2"], ["node-1"], one_way=True)
    puppets.call(2)
    puppets.run(2_000)
    assert len(puppets.node(2).told("Received")) == 2
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [2]


def test_what_waits_before_a_rift_is_lost_if_its_sender_gives_up(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.call(1)
    puppets.run(500)
    puppets.network.part(["node-1"], ["node-2"])
    puppets.call(2, timeout_ms=300)
    puppets.run(1_000)
    puppets.network.heal()
    puppets.run()
    assert len(puppets.node(2).told("Received")) == 1
    assert len(puppets.node(2).told("Disconnected")) == 1


def test_a_frame_is_its_parts():
    assert joined([b"a", bytearray(b"b"), memoryview(b"c")]) == b"abc"
