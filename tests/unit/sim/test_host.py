import pytest

from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from unit.sim.quiet import ORDERS
from unit.sim.several import Puppets


class Seen(Watcher):
    def __init__(self):
        self.ends, self.boots, self.power_losses = [], 0, 0

    def went_down(self, host, end):
        self.ends.append(end)

    def came_up(self, host):
        self.boots += 1

    def lost_power(self, host):
        self.power_losses += 1


def test_a_node_comes_and_goes_and_the_disk_stays(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.create(flush_messages=1)
    quiet.write(b"kept")
    for end in (quiet.host.stop, quiet.host.kill, quiet.host.lose_power):
        quiet.restart(end)
    assert seen.ends == [End.STOPPED, End.KILLED, End.POWER_LOST]
    assert (quiet.host.boots, seen.boots) == (4, 3)
    assert len(bytes(quiet.fetch().records)) > 0


def test_power_may_go_while_no_node_is_up(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.kill()
    quiet.host.lose_power()
    assert (seen.ends, seen.power_losses) == ([End.KILLED], 1)


def test_the_end_may_come_in_the_midst_of_a_step(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.light_fuse(0, End.KILLED)
    with pytest.raises(AssertionError, match="not answered"):
        quiet.create()
    assert seen.ends == [End.KILLED]
    assert quiet.host.disk.fuse is None


def test_a_frame_is_only_lent(quiet, monkeypatch):
    frames = []
    step = quiet.host.node.step
    monkeypatch.setattr(quiet.host.node, "step", lambda event, now: frames.append(event) or step(event, now))
    quiet.create()
    frame = next(event.frame for event in frames if hasattr(event, "frame"))
    assert bytes(frame) == b"\xdd" * len(frame)


def test_a_step_that_raises_breaks_a_law(quiet, monkeypatch):
    def fail(event, now):
        raise ZeroDivisionError

    monkeypatch.setattr(quiet.host.node, "step", fail)
    with pytest.raises(Violation, match="a step does not fail"):
        quiet.create()


@pytest.mark.parametrize("hook", ["said", "stepped"])
def test_a_node_is_not_blamed_for_a_law_that_fails(quiet, hook):
    def fail(self, *told):
        raise ZeroDivisionError

    quiet.world.watch([type("Confused", (Watcher,), {hook: fail})()])
    with pytest.raises(Violation, match=r"every law can be asked: Confused: ZeroDivisionError\(\)"):
        quiet.create()


def test_a_start_without_room_is_an_end_and_no_violation(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.kill()
    quiet.host.disk.fill_up(0)
    quiet.host.start()
    assert not quiet.host.is_up
    quiet.host.disk.free_up()
    quiet.host.start()
    assert quiet.host.is_up


def test_a_deadline_that_does_not_move_on_is_noticed(quiet, monkeypatch):
    quiet.create()
    monkeypatch.setattr(quiet.host.node, "next_deadline", lambda: 0)
    monkeypatch.setattr(quiet.host.node, "step", lambda event, now: [])
    with pytest.raises(Violation, match="moves on"):
        quiet.host._plan_waking()
        quiet.run()


def test_partitions_are_where_the_settings_say(quiet):
    quiet.create()
    assert quiet.partition(ORDERS).log.directory == "/data/orders-0"


def test_a_paused_node_goes_on_where_it_was_with_all_that_came_meanwhile(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.call(1, timeout_ms=60_000)
    puppets.run(500)
    puppets.host(2).pause(2_000)
    for token in range(2, 5):
        puppets.call(token, timeout_ms=60_000)
    puppets.run(1_500)
    assert len(puppets.node(2).told("Received")) == 1
    puppets.run(2_000)
    assert [event.token for event in puppets.node(1).told("Answered")] == [1, 2, 3, 4]


def test_a_paused_node_can_be_killed_and_what_came_for_it_is_lost(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.host(2).pause(2_000)
    puppets.call(1)
    puppets.run(500)
    puppets.host(2).kill()
    puppets.host(2).start()
    puppets.run()
    assert puppets.node(2).events == []
    assert not puppets.host(2).is_paused
    assert [event.token for event in puppets.node(1).told("Unanswered")] == [1]


def test_a_paused_node_that_is_told_to_stop_does_so_when_it_goes_on(monkeypatch):
    puppets = Puppets(monkeypatch)
    puppets.host(2).pause(2_000)
    puppets.host(2).stop()
    puppets.run(1_000)
    assert puppets.host(2).is_up
    puppets.run(2_000)
    assert not puppets.host(2).is_up


@pytest.mark.parametrize("jump_ms", [-3_600_000, 3_600_000])
def test_a_clock_that_is_set_neither_ends_what_waits_nor_lets_it_wait_for_ever(quiet, jump_ms):
    quiet.create(message_timestamp_type="LogAppendTime")
    answers = []
    wanted = FetchTopic("orders", bytes(16), [FetchPartition(0, fetch_offset=0, partition_max_bytes=1_000)])
    request = FetchRequest(max_wait_ms=5_000, min_bytes=1, max_bytes=1_000, topics=[wanted])
    quiet.client.ask(request, 12, answers.append).notes.update(places={ORDERS: 0}, names={})
    quiet.run(100)

    quiet.host.clock.jump(jump_ms)
    quiet.run(4_000)
    assert not answers
    quiet.run(1_000)
    assert answers
    quiet.write(b"now")
    appended_at = quiet.host.node.broker.replica_manager.get(ORDERS).log.segments.active.max_timestamp
    assert abs(appended_at - quiet.world.now - jump_ms) < 100, (
        "it is written down what the clock on the wall says"
    )
