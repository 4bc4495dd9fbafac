"""Whatever is committed, in whichever transactions, the offsets are those of a plain model and of their log."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from andiron.groups.offsets.records import OffsetCommitValue, decode_value, encode_value
from andiron.groups.offsets.table import Offsets
from andiron.model.errors import ProtocolError
from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import MalformedMessage
from properties.effort import tries
from worlds.offsets import OffsetsWorld, Shelf

GROUPS, TOPICS, PARTITIONS, PRODUCERS = ("a", "b"), ("t", "u"), 3, (7, 8)
Place = tuple[str, str, int]


# ── bytes ────────────────────────────────────────────────────────────────────────────

i64 = st.integers(-(1 << 63), (1 << 63) - 1)
i32 = st.integers(-(1 << 31), (1 << 31) - 1)
ids = st.just(bytes(16)) | st.binary(min_size=16, max_size=16)
usual = st.builds(OffsetCommitValue, i64, i32, st.text(max_size=130), i64, st.just(-1), ids)
expiring = st.builds(
    OffsetCommitValue, i64, st.just(-1), st.text(max_size=130), i64, i64.filter(lambda time: time != -1)
)


def by_declaration(data: bytes) -> OffsetCommitValue | None:
    """What the declaration makes of bytes; None if nothing."""
    try:
        (version,) = struct.unpack_from(">h", data)
        return decoder(OffsetCommitValue, version)(data, 2, len(data))[0]
    except (MalformedMessage, struct.error, ValueError):
        return None


def by_hand(data: bytes) -> OffsetCommitValue | None:
    try:
        return decode_value(data)
    except (MalformedMessage, struct.error):
        return None


@given(usual | expiring)
def test_a_value_by_hand_is_the_value_by_declaration(value: OffsetCommitValue):
    version = 4 if value.expire_timestamp == -1 else 1
    data = encode_value(value)

    assert data == struct.pack(">h", version) + encode_message(value, version)
    assert decode_value(data) == value


@given(usual.map(encode_value), st.data())
def test_spoilt_bytes_are_read_alike_by_hand_and_by_declaration(data: bytes, draw: st.DataObject):
    spoilt = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        spoilt[draw.draw(st.integers(0, len(spoilt) - 1))] = draw.draw(st.integers(0, 255))
    cut = (
        bytes(spoilt[: draw.draw(st.integers(0, len(spoilt)))]) if draw.draw(st.booleans()) else bytes(spoilt)
    )

    assert by_hand(cut) == by_declaration(cut)


@given(st.binary(max_size=60))
@example(b"\x00\x04" + bytes(13) + bytes((1, 0, 16)))
def test_any_bytes_are_read_alike_by_hand_and_by_declaration(data: bytes):
    assert by_hand(data) == by_declaration(data)


# ── the machine against a model ──────────────────────────────────────────────────────

groups = st.sampled_from(GROUPS)
offsets = st.dictionaries(
    st.sampled_from(TOPICS),
    st.dictionaries(st.integers(0, PARTITIONS - 1), st.integers(0, 99), min_size=1),
    min_size=1,
)
producers = st.sampled_from(PRODUCERS)
steps = st.lists(
    st.tuples(st.just("commit"), groups, offsets)
    | st.tuples(st.just("commit_in_transaction"), groups, offsets, producers)
    | st.tuples(st.just("end"), producers, st.booleans())
    | st.tuples(st.just("delete_offsets"), groups, offsets)
    | st.tuples(st.just("delete_group"), groups)
    | st.tuples(st.just("recreate"), st.sampled_from(TOPICS)),
    max_size=25,
)


@dataclass
class Model:
    """Every offset with the moment it was written at, in one flat table and one a producer."""

    counts: dict[Place, tuple[int, int]] = field(default_factory=dict)
    pending: dict[int, dict[Place, tuple[int, int]]] = field(default_factory=dict)
    moment: int = 0

    def written(self, group: str, wanted: dict[str, dict[int, int]]) -> dict[Place, tuple[int, int]]:
        found = {}
        for topic, partitions in wanted.items():
            for partition, offset in partitions.items():
                self.moment += 1
                found[group, topic, partition] = (self.moment, offset)
        return found

    def commit(self, group: str, wanted: dict[str, dict[int, int]]) -> None:
        self.counts.update(self.written(group, wanted))

    def commit_in_transaction(self, group: str, wanted: dict[str, dict[int, int]], producer: int) -> None:
        self.pending.setdefault(producer, {}).update(self.written(group, wanted))

    def end(self, producer: int, committed: bool) -> None:
        for place, one in self.pending.pop(producer, {}).items():
            if committed:
                self.counts[place] = max(one, self.counts.get(place, one))

    def forget(self, gone: Any) -> None:
        for table in (self.counts, *self.pending.values()):
            for place in [place for place in table if gone(place)]:
                del table[place]

    def delete_offsets(self, group: str, wanted: dict[str, dict[int, int]]) -> None:
        self.forget(lambda place: place[0] == group and place[2] in wanted.get(place[1], {}))

    def delete_group(self, group: str) -> None:
        self.forget(lambda place: place[0] == group)

    def recreate(self, topic: str) -> None:
        self.forget(lambda place: place[1] == topic)

    def unstable(self) -> set[Place]:
        return {place for table in self.pending.values() for place in table}


def do(world: OffsetsWorld, name: str, *what: Any) -> None:
    match name, what:
        case "commit", (group, wanted):
            world.commit(wanted, group)
        case "commit_in_transaction", (group, wanted, producer):
            world.commit_in_transaction(wanted, producer, group)
        case "end", (producer, committed):
            world.end(producer, commit=committed)
        case "delete_offsets", (group, wanted):
            if group in world.offsets:
                world.delete_offsets({topic: list(each) for topic, each in wanted.items()}, group)
        case "delete_group", (group,):
            try:
                world.delete_group(group)
            except ProtocolError:
                assert group not in world.offsets
        case "recreate", (topic,):
            world.topics.delete(topic)
            world.settle(world.expiry.topics_deleted([topic], world.now))
            world.topics.create(topic, PARTITIONS)


def all_of(offsets: Offsets) -> dict[str, Any]:
    """The whole state, for comparison."""
    found = {}
    for group_id in offsets:
        group = offsets.of(group_id)
        assert group is not None
        found[group_id] = (group.committed, group.open)
    return found


@given(steps)
@settings(max_examples=tries(200), deadline=None)
def test_offsets_are_those_of_the_model_and_of_their_log(story: list[tuple[Any, ...]]):
    world, model = OffsetsWorld(Shelf(t=PARTITIONS, u=PARTITIONS)), Model()
    for step in story:
        do(world, *step)
        getattr(model, step[0])(*step[1:])
        for group in GROUPS:
            wanted = {topic: list(range(PARTITIONS)) for topic in TOPICS}
            plain, stable = world.fetched(wanted, group), world.fetched(wanted, group, stable=True)
            for topic in TOPICS:
                for partition in range(PARTITIONS):
                    place = (group, topic, partition)
                    _, offset = model.counts.get(place, (0, -1))
                    assert plain[topic][partition] == offset
                    assert stable[topic][partition] == (-88 if place in model.unstable() else offset)
    assert all_of(world.reloaded()) == all_of(world.offsets)


@given(steps, st.sampled_from(PRODUCERS))
@settings(max_examples=tries(100), deadline=None)
def test_a_transaction_counts_as_a_whole_or_not_at_all(story: list[tuple[Any, ...]], producer: int):
    world = OffsetsWorld(Shelf(t=PARTITIONS, u=PARTITIONS))
    for step in story:
        if step[0] != "end":
            do(world, *step)
    before = {group: world.fetched(group=group) for group in GROUPS}
    world.end(producer, commit=False)

    assert {group: world.fetched(group=group) for group in GROUPS} == before
    for other in PRODUCERS:
        world.end(other, commit=True)
    assert all(not world.offsets.of(group).open for group in world.offsets)
