import pytest

from andiron.model.effects import Reply
from andiron.sim.network import Exchange
from andiron.sim.watcher import Violation
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.produce import ProduceRequest
from unit.sim.quiet import Quiet


def test_a_request_and_its_answer_find_each_other(quiet):
    response = quiet.ask(ApiVersionsRequest("sim", "1"), 3)
    assert response.error_code == 0
    assert response.api_keys


def test_a_connection_keeps_the_order_of_its_frames(quiet):
    quiet.network.delay_ms_max = 500
    answered = []
    for _ in range(20):
        quiet.client.ask(ApiVersionsRequest("sim", "1"), 3, lambda e: answered.append(e.correlation))
    quiet.run()
    assert answered == sorted(answered)
    assert len(answered) == 20


def test_nobody_connects_where_nobody_listens(quiet):
    quiet.host.kill()
    assert quiet.network.connect(quiet.client, quiet.host) is None


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


def test_a_response_that_does_not_decode_is_noticed(quiet):
    exchange = Exchange(ApiVersionsRequest("sim", "1"), 3, 1, quiet.world.now)
    with pytest.raises(Violation, match="responses decode"):
        exchange.decode(b"\0\0\0\1")
    with pytest.raises(Violation, match="responses decode"):
        exchange.decode(b"\0\0\0\2" + b"\0\0\1\0\0\0\0\0")


def test_only_acks_0_goes_unanswered(quiet):
    assert Exchange(ProduceRequest(acks=0), 3, 1, quiet.world.now).is_unanswered
    assert not Exchange(ProduceRequest(acks=1), 3, 1, quiet.world.now).is_unanswered


def test_what_was_sent_before_hanging_up_may_arrive_or_not():
    ends = set()
    for seed in range(12):
        quiet = Quiet(seed, watched=False)
        quiet.create()
        quiet.client.ask(quiet.produce_request(b"x", acks=1), 9)
        link = quiet.client.link
        quiet.client.hang_up()
        quiet.run()
        assert not link.client_open and not link.host_open
        assert quiet.host.links == []
        ends.add(quiet.partition().log.end)
    assert ends == {0, 1}
