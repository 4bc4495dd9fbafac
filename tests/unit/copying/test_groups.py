"""Groups' offsets, translated and brought to the target, forwards and backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import CommittedOffset
from andiron.copying.copier import Copier
from andiron.copying.groups import GroupReport, Groups, is_its_own
from andiron.copying.state import Ours
from andiron.model.ids import TopicPartition

if TYPE_CHECKING:
    from unit.copying.conftest import Both

P = TopicPartition("t", 0)


def brought(both: Both, copier: Copier, known: dict[str, Ours]) -> GroupReport:
    groups = Groups(both.source, both.target, (both.topic,), known, known.__setitem__)
    (report,) = groups.sync(copier.copies)
    return report


def committed(both: Both) -> CommittedOffset | None:
    return GroupAdmin(both.target.client).committed(both.topic).get(both.partition)


def test_a_commit_is_translated_and_keeps_its_metadata(both: Both) -> None:
    both.transact("a")
    both.transact("b", "c")
    both.write("d", "e")
    copier, known = both.copy(), dict[str, Ours]()
    mine = GroupAdmin(both.source.client)

    for offset, expected in [(6, 4), (3, 2), (0, 0), (5, 3), (7, 5)]:  # markers at 1 and 4
        mine.commit(both.topic, {both.partition: offset}, "mine")
        report = brought(both, copier, known)
        assert report.offsets == {both.partition: (offset, expected)}
        told = committed(both)
        assert told is not None and (told.offset, told.metadata) == (expected, "mine")


def test_one_that_is_ahead_of_the_copy_waits_at_its_end(both: Both) -> None:
    both.write("a")
    copier = both.copy()
    both.write("b")
    GroupAdmin(both.source.client).commit(both.topic, {both.partition: 2})

    brought(both, copier, {})

    told = committed(both)
    assert told is not None and told.offset == 1


def test_a_group_that_goes_on_by_itself_on_the_target_is_left_alone(both: Both) -> None:
    both.write("a", "b", "c")
    copier, known = both.copy(), dict[str, Ours]()
    GroupAdmin(both.source.client).commit(both.topic, {both.partition: 1})
    assert not brought(both, copier, known).left_alone
    GroupAdmin(both.target.client).commit(both.topic, {both.partition: 3})
    GroupAdmin(both.source.client).commit(both.topic, {both.partition: 2})

    assert "of its own" in brought(both, copier, known).left_alone
    told = committed(both)
    assert told is not None and told.offset == 3


def test_what_was_noted_and_not_committed_is_still_the_copys_own() -> None:
    there = {P: CommittedOffset(5, -1, "")}

    assert not is_its_own(there, {P: (5, 9)})
    assert not is_its_own(there, {P: (3, 5)})
    assert is_its_own(there, {P: (3, 4)})
    assert is_its_own(there, {})
