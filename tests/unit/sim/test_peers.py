import pytest

from andiron.model.effects import Unanswered
from andiron.sim.watcher import Violation
from unit.sim.several import BROKER, Puppets


@pytest.fixture
def puppets(monkeypatch):
    return Puppets(monkeypatch)


def test_a_call_is_answered_by_the_node_at_that_address(puppets):
    puppets.call(7)
    puppets.run()
    assert [event.listener for event in puppets.node(2).told("Connected")] == ["CONTROLLER"]
    (answered,) = puppets.node(1).told("Answered")
    assert answered.token == 7
    assert puppets.node(1).frames == [(7).to_bytes(4, "big") + b"echo"]


def test_calls_of_a_lane_share_a_connection_and_are_answered_in_turn(puppets):
    puppets.network.delay_ms_max = 300
    for token in range(1, 9):
        puppets.call(token)
    puppets.call(9, lane="polls")
    puppets.run()
    assert len(puppets.node(2).told("Connected")) == 2
    tokens = [event.token for event in puppets.node(1).told("Answered")]
    assert [token for token in tokens if token < 9] == list(range(1, 9))
    assert sorted(tokens) == list(range(1, 10))


def test_frames_are_only_lent(puppets):
    puppets.call(7)
    puppets.run()
    (answered,) = puppets.node(1).told("Answered")
    (received,) = puppets.node(2).told("Received")
    assert bytes(answered.frame) == b"\xdd" * 8
    assert bytes(received.frame) == b"\xdd" * len(received.frame)


def test_nobody_answers_for_a_node_that_is_down(puppets):
    puppets.host(2).kill()
    puppets.call(7)
    puppets.run(500)
    assert puppets.node(1).told("Unanswered") == [Unanswered(7, "node-2:9093: connection refused")]


def test_nobody_answers_where_no_node_is(puppets):
    puppets.call(7, at=3)
    puppets.run(500)
    assert len(puppets.node(1).told("Unanswered")) == 1


def test_controllers_are_there_before_brokers_are_ready(puppets):
    host = puppets.host(2)
    host.is_open = host.node.ready = False
    puppets.call(7)
    puppets.call(8, port=BROKER)
    puppets.run(500)
    assert [event.token for event in puppets.node(1).told("Answered")] == [7]
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [8]


def test_a_late_call_takes_all_of_its_lane_with_it_and_the_next_connects_again(puppets):
    puppets.node(2).answers = False
    puppets.call(1, timeout_ms=5_000)
    puppets.call(2, timeout_ms=1_000)
    puppets.run(2_000)
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [1, 2]
    puppets.node(2).answers = True
    puppets.call(3)
    puppets.run()
    assert [event.token for event in puppets.node(1).told("Answered")] == [3]
    assert len(puppets.node(2).told("Disconnected")) == 1


@pytest.mark.parametrize("jump_ms", [-600_000, 600_000])
def test_lateness_does_not_go_by_the_clock_on_the_wall(puppets, jump_ms):
    puppets.node(2).answers = False
    puppets.call(1, timeout_ms=1_000)
    puppets.host(1).clock.jump(jump_ms)
    puppets.run(900)
    assert not puppets.node(1).told("Unanswered")
    puppets.run(200)
    assert puppets.node(1).told("Unanswered")


@pytest.mark.parametrize("end", ["kill", "stop", "lose_power"])
def test_the_end_of_the_other_side_breaks_the_link(puppets, end):
    puppets.node(2).answers = False
    puppets.call(1, timeout_ms=60_000)
    puppets.run(200)
    getattr(puppets.host(2), end)()
    puppets.run(200)
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [1]


def test_a_node_that_comes_back_hears_nothing_of_what_the_last_one_asked(puppets):
    puppets.network.delay_ms_max = 500
    for token in range(1, 6):
        puppets.call(token, lane=str(token))
    puppets.host(1).kill()
    puppets.host(1).start()
    puppets.run()
    assert puppets.node(1).events == []


def test_a_connection_that_is_closed_leaves_calls_unanswered(puppets):
    puppets.node(2).answers = False
    puppets.call(1, timeout_ms=60_000)
    puppets.run(200)
    puppets.close_all(of=2)
    puppets.run(200)
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [1]


def test_an_answer_to_something_else_breaks_a_law(puppets, monkeypatch):
    reply = puppets.node(2).reply
    monkeypatch.setattr(
        type(puppets.node(2)), "reply", lambda self, conn, ticket, frame: reply(conn, ticket + 1, frame)
    )
    puppets.call(1)
    with pytest.raises(Violation, match="ticket"):
        puppets.run()


def test_behind_a_rift_a_call_is_late_unless_it_heals(puppets):
    puppets.network.part(["node-1"], ["node-2"])
    puppets.call(1, timeout_ms=500)
    puppets.call(2, timeout_ms=9_000, lane="polls")
    puppets.run(1_000)
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [1]
    puppets.network.heal()
    puppets.run(3_000)
    assert [event.token for event in puppets.node(1).told("Answered")] == [2]


def test_calls_are_lines_of_the_history(monkeypatch):
    lines = []
    puppets = Puppets(monkeypatch, tell=lines.append)
    puppets.call(7)
    puppets.run()
    told = "\n".join(lines)
    assert "calls       ApiVersions v3 #7 at node-2:9093 (votes)" in told
    assert "hears       ApiVersions v3 #7 from node-1" in told
    assert "says        ApiVersions v3 #7 8 bytes" in told
