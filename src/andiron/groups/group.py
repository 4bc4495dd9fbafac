"""The interface of a group, whichever protocol its members speak: classic, consumer, or one that is not served.

Three classes fulfil this: a classic group, whose members agree among themselves who reads what (classic/group.py), a
consumer group, to which the broker assigns (consumer/group.py), and one that is kept and not served
(unserved_group.py). Offsets belong to none of them: they are kept by the name of the group, and a group may consist of
nothing else.

`GroupContext` is what all groups of a shard share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from andiron.groups.group_memory import GroupMemory
from andiron.groups.rebalances import Rebalances
from andiron.groups.records import GroupRecord
from andiron.groups.settings import GroupSettings
from andiron.groups.sizes import BATCH_MAX
from andiron.groups.topics import Topics
from andiron.model.chance import Chance
from andiron.model.ids import Millis
from andiron.model.timers import Timers

CLASSIC, CONSUMER = "classic", "consumer"

# (topic id, partition): raises if the caller may not commit an offset of it. The whole commit is refused then.
CommitCheck: TypeAlias = Callable[[bytes, int], None]


class Caller(NamedTuple):
    """Who commits or fetches offsets: a member, or (with an empty id and a negative epoch) somebody else."""

    member_id: str
    instance_id: str | None
    epoch: int  # of the generation, or the member's


class Group(Protocol):
    """What offsets, listings and deletions ask of a group of any type."""

    id: str
    kind: str  # CLASSIC, CONSUMER, or of a kind that is not served
    protocol_type: str  # "consumer", mostly; "" if it never had members

    @property
    def state(self) -> str:
        """Kafka's word for it: Empty, PreparingRebalance, CompletingRebalance, Stable, Dead, Assigning, …"""

    def check_commit(self, caller: Caller, *, transactional: bool, version: int) -> CommitCheck | None:
        """Raise the error that a commit of this caller deserves. Where that depends on the partitions (a member
        that has not heard of its new epoch may still commit what it keeps), return what each is to be asked."""

    def check_fetch(self, caller: Caller) -> None:
        """Raise the error that asking for offsets deserves, where the caller says which member it is."""

    def heard_from(self, member_id: str, now: Millis) -> None:
        """A member has committed, which shows as much as a heartbeat that it is alive."""

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether members read this topic, as far as that is known."""

    def subscribed_topics(self) -> Collection[str]:
        """The topics that members read, as far as they are known."""

    def offsets_idle_since(self, topic: str, committed_at: Millis) -> Millis | None:
        """From when on the time runs after which an offset expires; None while it must not."""

    def check_delete(self) -> None:
        """Raise NON_EMPTY_GROUP while it has members."""

    def tombstones(self) -> list[GroupRecord]:
        """The records that remove all of it, its offsets apart."""

    @property
    def bytes_held(self) -> int:
        """About how much memory it takes, its offsets apart; known without looking at its members."""

    def bytes_held_for(self, member_id: str, instance_id: str | None) -> int | None:
        """How much of it for one member; None if there is no such member."""


def not_of_kind(group_id: str, kind: str, group: Group | None) -> str:
    """The message of GROUP_ID_NOT_FOUND: there is no group of that name, or it is of another type than asked for."""
    if group is None:
        return f"there is no {kind} group {group_id}"
    served = "" if group.kind in (CLASSIC, CONSUMER) else ", which is kept for Kafka and not served here"
    return f"{group_id} is a {group.kind} group{served}, and not a {kind} group"


class TimerKey(NamedTuple):
    """What a deadline is for."""

    purpose: str  # "session", "rebalance", "join", "sync", "expiry", …: the protocol's own words
    group_id: str = ""
    member_id: str = ""


@dataclass(slots=True)
class GroupContext:
    """What the groups of one shard share."""

    settings: GroupSettings
    topics: Topics
    chance: Chance
    configs: Callable[[str], Mapping[str, str]]  # a group's own settings (group configs), by its name
    batch_max: Callable[[], int] = lambda: BATCH_MAX  # max.message.bytes of __consumer_offsets
    groups: dict[str, Group] = field(default_factory=dict)
    timers: Timers[TimerKey] = field(default_factory=Timers)
    rebalances: Rebalances = field(init=False)
    memory: GroupMemory = field(init=False)

    def __post_init__(self) -> None:
        self.rebalances = Rebalances(self.groups)
        self.memory = GroupMemory(self.groups)
