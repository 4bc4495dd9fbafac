"""How long members of consumer groups may take: to be heard from, to give up partitions, to join and to sync.

    session     between two heartbeats: group.consumer.session.timeout.ms, or what the group is configured for;
                a member that speaks the classic protocol has brought its own
    rebalance   from when a member is told to give up partitions until it has: its rebalance timeout
    join, sync  the same for those who speak the classic protocol, from when they are told to join again, and
                from their JoinGroup to their SyncGroup

Whoever takes longer is taken out of the group, and what it held is free. All of this is soft: after a failover
everybody gets its time anew.

How soon a member is to come again is said here too, and so who has yet to acknowledge what it is assigned, by a
heartbeat that names just that: it is busy with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import UNRELEASED_PARTITIONS, Member
from andiron.groups.group import GroupContext, TimerKey
from andiron.model.ids import Millis
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions

SESSION, REBALANCE = "consumer-session", "consumer-rebalance"
JOIN, SYNC = "consumer-join", "consumer-sync"
SOONER = 20  # times as many heartbeats of a member that waits for a partition
SOONEST_MS = 100  # librdkafka gives up a heartbeat that is not answered within the interval that it was told


class Sessions:
    """The deadlines of the members of a shard's consumer groups."""

    def __init__(self, context: GroupContext) -> None:
        self._context, self._timers = context, context.timers
        self._unacknowledged: set[tuple[str, str]] = set()  # group and member

    def heartbeat_interval_ms(self, group_id: str, member: Member) -> int:
        """The heartbeat interval that a member is told.

        One that lacks a partition which another has not given up yet hears with a heartbeat that it is free, and
        nobody reads it until then. So it is told to come soon: a pause of up to 5 seconds becomes one of a
        quarter.

        But not while it has yet to take what it was given, since it comes by itself when it has. librdkafka asks
        for a topic's name before it takes the first partitions, and as long as that is not answered its heartbeats
        say that it owns none. One that is under way when the name comes gives up, should the target have changed,
        what the member begins to read at that moment, and two read it. Kafka's coordinator would be misled as well,
        but has members come every 5 seconds.
        """
        settings = self._context.settings
        usual = self._configured(
            group_id,
            "consumer.heartbeat.interval.ms",
            settings.group_consumer_heartbeat_interval_ms,
            settings.group_consumer_min_heartbeat_interval_ms,
            settings.group_consumer_max_heartbeat_interval_ms,
        )
        hurries = member.state == UNRELEASED_PARTITIONS and (group_id, member.id) not in self._unacknowledged
        return min(usual, max(SOONEST_MS, usual // SOONER)) if hurries else usual

    def tells_assignment(
        self, group_id: str, member: Member, owned: Iterable[TopicPartitions] | None, *, news: bool
    ) -> bool:
        """Whether a member that says it owns this is told what it is assigned: when that is news, and then with
        every answer until it says that it owns just that."""
        key = group_id, member.id
        if _names(owned) == {topic: {*epochs} for topic, epochs in member.assigned.items()}:
            self._unacknowledged.discard(key)
            return news
        if news:
            self._unacknowledged.add(key)
        return key in self._unacknowledged

    def session_timeout_ms(self, group_id: str) -> int:
        """The session timeout of a group: consumer.session.timeout.ms of the group, or else the broker's."""
        settings = self._context.settings
        return self._configured(
            group_id,
            "consumer.session.timeout.ms",
            settings.group_consumer_session_timeout_ms,
            settings.group_consumer_min_session_timeout_ms,
            settings.group_consumer_max_session_timeout_ms,
        )

    def _configured(self, group_id: str, name: str, default: int, least: int, most: int) -> int:
        value = self._context.configs(group_id).get(name, "")
        # The bounds may have been moved since the group was configured.
        return max(least, min(most, int(value))) if value.isdecimal() else default

    def heard(self, group_id: str, member: Member, now: Millis) -> None:
        """A heartbeat of the member has come: its session begins anew."""
        classic = member.profile.classic
        timeout_ms = self.session_timeout_ms(group_id) if classic is None else classic.session_timeout_ms
        self._timers.set(TimerKey(SESSION, group_id, member.id), Millis(now + timeout_ms))

    def moved(self, group_id: str, member: Member, now: Millis) -> None:
        """The member's assignment has changed: if it has partitions to revoke, its rebalance timeout runs."""
        key = TimerKey(REBALANCE, group_id, member.id)
        if member.revoking and not member.is_classic:
            self._timers.set(key, Millis(now + member.profile.rebalance_timeout_ms))
        else:
            self._timers.cancel(key)

    def must_join(self, group_id: str, member: Member, now: Millis) -> None:
        """A classic member has been told to join again, for the first time or once more."""
        key = TimerKey(JOIN, group_id, member.id)
        if key not in self._timers:
            self._timers.set(key, Millis(now + member.profile.rebalance_timeout_ms))

    def has_joined(self, group_id: str, member: Member, now: Millis) -> None:
        """A classic member has joined, and must ask for its assignment now."""
        self._timers.cancel(TimerKey(JOIN, group_id, member.id))
        self._timers.set(
            TimerKey(SYNC, group_id, member.id), Millis(now + member.profile.rebalance_timeout_ms)
        )

    def has_synced(self, group_id: str, member: Member) -> None:
        """A classic member has asked for its assignment."""
        self._timers.cancel(TimerKey(SYNC, group_id, member.id))

    def end(self, group_id: str, member_id: str) -> None:
        """Cancel all deadlines of a member that has left."""
        for purpose in (SESSION, REBALANCE, JOIN, SYNC):
            self._timers.cancel(TimerKey(purpose, group_id, member_id))
        self._unacknowledged.discard((group_id, member_id))

    def begin(self, group: ConsumerGroup, now: Millis) -> None:
        """Begin the sessions of all members of a group, once the log has been read."""
        for member in group.members.values():
            self.heard(group.id, member, now)
            self.moved(group.id, member, now)


def _names(owned: Iterable[TopicPartitions] | None) -> dict[bytes, set[int]] | None:
    return (
        None
        if owned is None
        else {topic.topic_id: {*topic.partitions} for topic in owned if topic.partitions}
    )
