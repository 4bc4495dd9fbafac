"""Dead letters, and how far whoever writes them is; what a comparison makes of it is in test_verify.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.tables.dead_letter_offsets import Patience, read_dead_letter_offsets
from andiron.spark.tables.parquet import ParquetTable
from andiron.wire.apis import ApiKey
from unit.spark.tables.test_verification import Place
from unit.spark.tables.worlds import T0
from unit.spark.world import World

READERS = DeadLetters("dead", "me", "readers")


@pytest.fixture
def place() -> Iterator[Place]:
    with World() as world:
        world.make("dead", 1)
        yield Place(world, ParquetTable("nowhere"))


def test_patience_looks_at_least_once_and_then_as_long_as_it_lasts() -> None:
    answers = iter([False, True])

    assert Patience(0).wait(lambda: True)
    assert not Patience(0).wait(lambda: False)
    assert Patience(60).wait(lambda: next(answers))


def test_the_topic_is_read_after_the_reader_was_asked_how_far_it_is(place: Place) -> None:
    """Else what it wrote in between would be held to be decided, and not be found."""
    ask = place.offsets

    def write_and_answer(request: object) -> object:
        place.refuse(4)
        return ask(request)

    place.reached = [10]
    place.world.broker.on(ApiKey.OFFSET_FETCH, write_and_answer)
    with Client(place.world.broker.bootstrap) as client:
        found = read_dead_letter_offsets(client, READERS, {T0: 10}, Patience(0))

    assert list(found.of(T0)) == [4]
    assert found.decided is None


def test_where_the_reader_is_behind_it_is_decided_up_to_there(place: Place) -> None:
    place.reached = [6]
    with Client(place.world.broker.bootstrap) as client:
        found = read_dead_letter_offsets(client, READERS, {T0: 10}, Patience(0))

    assert [found.end(T0, end) for end in (4, 6, 10)] == [4, 6, 6]
    assert list(found.of(T0)) == []
