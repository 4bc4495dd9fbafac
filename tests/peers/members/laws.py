"""What must hold of a group, read from the lines that its members wrote.

at least once    all that was written was processed
exactly once     and nothing twice, where nobody failed
one owner        at no time did two members have the same partition
nothing moved    a partition that stays with its owner was never asked back (cooperative and new protocol)
in vain
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from peers.members.group import Group
from peers.members.hosting import Member
from peers.members.member import Place


@dataclass(frozen=True, slots=True, order=True)
class Tenure:
    """The time during which a member owned a partition, and how it ended."""

    start: int
    end: int
    member: str
    how: str


def at_least_once(group: Group) -> None:
    missed = group.expected - set(processed(group))
    assert not missed, f"never processed: {sorted(missed)[:10]}"


def exactly_once(group: Group) -> None:
    at_least_once(group)
    twice = [seen for seen, times in processed(group).items() if times > 1]
    assert not twice, f"processed more than once: {sorted(twice)[:10]} of {len(twice)}"


def in_order(group: Group) -> None:
    """Within one tenure a member sees the offsets of a partition rise one by one."""
    for member in group.members:
        last: dict[Place, int] = {}
        for event in member.of("assigned", "record"):
            if event["event"] == "assigned":
                for place in map(tuple, event["partitions"]):
                    last.pop(place, None)
            else:
                place, offset = tuple(event["partition"]), event["offset"]
                assert offset == last.get(place, offset - 1) + 1, f"{member.name} skipped before {event}"
                last[place] = offset


def one_owner(group: Group) -> None:
    """A member that was thrown out hears of it late, so a tenure which ended as lost may overlap the next."""
    for place, tenures in histories(group).items():
        for before, after in pairwise(tenures):
            fine = before.how == "lost" or before.end <= after.start or before.member == after.member
            assert fine, f"{place} had two owners: {before} and {after}"


def nothing_moved_in_vain(group: Group) -> None:
    for place, tenures in histories(group).items():
        for before, after in pairwise(tenures):
            assert before.member != after.member, f"{place} was taken from {before.member} and given back"


def processed(group: Group) -> Counter[tuple[Place, int]]:
    return Counter(seen for member in group.members for seen in member.records)


def histories(group: Group) -> dict[Place, list[Tenure]]:
    """Who owned each partition, one after the other."""
    found: dict[Place, list[Tenure]] = {place: [] for place in group.written}
    for member in group.members:
        for place, tenure in tenures_of(member):
            found.setdefault(place, []).append(tenure)
    return {place: sorted(tenures) for place, tenures in found.items()}


def tenures_of(member: Member) -> Iterator[tuple[Place, Tenure]]:
    since: dict[Place, int] = {}
    for event in member.of("assigned", "revoked", "lost"):
        for place in map(tuple, event["partitions"]):
            if event["event"] == "assigned":
                since.setdefault(place, event["at"])
            elif place in since:
                yield place, Tenure(since.pop(place), event["at"], member.name, event["event"])
    for place, start in since.items():
        how = "killed" if member.ended else "living"
        yield place, Tenure(start, member.ended or time.monotonic_ns(), member.name, how)
