"""Long work, slice by slice, and what waits behind it."""

from __future__ import annotations

from collections.abc import Generator

from andiron.broker.node.slices import LongWork, each, each_by_weight, in_slices, nothing_before
from andiron.model.effects import Close, Effect, Received, Reply


def lasting(slices: int, conn: int = 1) -> Generator[None, None, list[Effect]]:
    for _ in range(slices - 1):
        yield
    return [Reply(conn, 1, [b"done"])]


def failing() -> Generator[None, None, list[Effect]]:
    yield
    raise RuntimeError("a bug")


def request(ticket: int, conn: int = 1) -> Received:
    return Received(conn, ticket, memoryview(bytearray(b"frame")))


def taken(request: Received) -> list[Effect]:
    return [Reply(request.conn, request.ticket, [bytes(request.frame)])]


def test_so_many_are_made_at_a_time():
    made = each(range(5), str, slice=2)

    assert in_slices(made)
    assert (next(made), next(made)) == (None, None)
    try:
        next(made)
    except StopIteration as end:
        assert end.value == ["0", "1", "2", "3", "4"]


def test_what_needs_one_slice_is_done_at_once():
    work = LongWork()

    assert work.begin(1, lasting(1)) == [Reply(1, 1, [b"done"])]
    assert not work
    assert not work.is_before(1)
    assert [*nothing_before(7)] == []


def test_two_sliced_requests_take_turns():
    work = LongWork()
    assert work.begin(1, lasting(3, conn=1)) == work.begin(2, lasting(2, conn=2)) == []

    assert work.go_on(taken) == []
    assert work.go_on(taken) == [Reply(2, 1, [b"done"])]
    assert work.go_on(taken) == [Reply(1, 1, [b"done"])]
    assert not work


def test_what_comes_later_on_the_connection_is_taken_in_its_order():
    work = LongWork()
    work.begin(1, lasting(2))
    late = request(2)
    work.hold(late)
    late.frame[:] = b"other"  # the buffer is used again
    work.hold(request(3))

    assert work.go_on(taken) == [
        Reply(1, 1, [b"done"]),
        Reply(1, 2, [b"frame"]),
        Reply(1, 3, [b"frame"]),
    ]
    assert not work.is_before(1)


def test_one_that_was_held_may_take_long_itself():
    work = LongWork()
    work.begin(1, lasting(2))
    work.hold(request(2))
    work.hold(request(3))

    assert work.go_on(lambda _: work.begin(1, lasting(2))) == [Reply(1, 1, [b"done"])]
    assert work.is_before(1)
    assert work.go_on(taken)[1:] == [Reply(1, 3, [b"frame"])]


def test_a_connection_that_is_gone_is_worked_for_no_more():
    work = LongWork()
    work.begin(1, lasting(9))
    work.begin(2, lasting(2, conn=2))

    work.forget(1)

    assert work.go_on(taken) == [Reply(2, 1, [b"done"])]
    assert not work


def test_a_bug_costs_its_connection_only(caplog):
    work = LongWork()
    work.begin(1, failing())

    [closed] = work.go_on(taken)

    assert isinstance(closed, Close)
    assert work.failures == 1 and "Node failed at a long request" in caplog.text
    assert not work


def test_what_weighs_more_takes_more_of_a_slice():
    made = each_by_weight(["a", "bbb", "c", "d", "e"], str.upper, len, slice=3)

    steps = [*iter(lambda: next(made, "end"), "end")]
    assert len(steps) == 2, "after bbb, and after e"
