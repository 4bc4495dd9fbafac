"""What a copy notes on the target, and what it makes of it when it begins again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from andiron.client.core.outbox import ProducerIdentity
from andiron.copying.offset_map import Stretch
from andiron.copying.state import Note, State, StateTopic, Target
from andiron.model.ids import TopicPartition

if TYPE_CHECKING:
    from unit.copying.conftest import Both

T, P = Target("t", "id"), TopicPartition("t", 0)


def replayed(*notes: Note, cluster: str = "a") -> State:
    state = State(cluster)
    for key, value in notes:
        state.replay(*_through_json(key, value))
    return state


def _through_json(*values: Any) -> Any:
    return json.loads(json.dumps(values))


def test_what_was_noted_is_known_again() -> None:
    state = State("a")
    notes = [
        state.note_producer(ProducerIdentity(7, 0)),
        state.note_topic(T, "source-id"),
        state.note_map(T, 0, [Stretch(0, 0)]),
        state.note_map(T, 0, [Stretch(9, 5), Stretch(20, 14, 30, 18)]),
        state.note_group("g", {P: (3, 4)}),
    ]

    again = replayed(*notes)

    assert again.producer == (7, 0)
    assert again.topics == {T: "source-id"}
    assert again.maps[T, 0].stretches == [Stretch(0, 0), Stretch(9, 5), Stretch(20, 14, 30, 18)]
    assert again.groups == {"g": {P: (3, 4)}}


def test_every_note_of_a_map_has_a_key_of_its_own_after_a_restart_too() -> None:
    state = State("a")
    notes = [state.note_map(T, 0, [Stretch(0, 0)]), state.note_map(T, 0, [Stretch(9, 5)])]

    notes.append(replayed(*notes).note_map(T, 0, [Stretch(20, 9)]))

    assert len({json.dumps(key) for key, _ in notes}) == 3


def test_a_cut_voids_what_never_arrived_and_nothing_that_is_noted_later() -> None:
    state = State("a")
    notes = [
        state.note_map(T, 0, [Stretch(0, 0), Stretch(9, 5), Stretch(20, 14)]),
        state.note_map(T, 0, [], cut=8),
        state.note_map(T, 0, [Stretch(30, 12)]),
    ]

    assert replayed(*notes).maps[T, 0].stretches == [Stretch(0, 0), Stretch(9, 5), Stretch(30, 12)]


def test_notes_of_another_source_and_of_a_topic_that_was_deleted_do_not_count() -> None:
    state = State("a")
    notes = [state.note_topic(T, "x"), state.note_map(T, 0, [Stretch(0, 0)])]

    assert replayed(*notes, cluster="b").topics == {}
    assert (Target("t", "another id"), 0) not in replayed(*notes).maps


def test_they_are_kept_in_a_compacted_topic_of_the_target(both: Both) -> None:
    topic, cluster = StateTopic(both.target.client), both.topic
    topic.create()
    topic.create()

    topic.write([State(cluster).note_producer(ProducerIdentity(41, 2))])
    topic.close()

    assert topic.load(cluster).producer == (41, 2)
    assert topic.load("another").producer is None
