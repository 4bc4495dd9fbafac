"""`andiron group describe`: the members of a group, their assignments, and the group's lag.

    partitions   of topics that it reads         COMMITTED  END  LAG  BEHIND  OWNER
    members      who is there, also idle ones    PARTITIONS

What cannot be known is left out: a partition whose topic is gone or which has no leader has no end, and who is in a
share or streams group is Kafka's to tell. Of a partition that nobody has committed the lag is a range, `0 to 151`:
whether a consumer begins with the first record or with the next one is said by its auto.offset.reset, which no broker
knows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from andiron.cli.output import columns, plural
from andiron.cli.selections import partitions_as_json, show_partitions
from andiron.cli.times import show_duration
from andiron.client.blocking.broker_survey import LeftOut
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import NO_EPOCH, GroupDescription, GroupMember
from andiron.client.core.lag import Lag
from andiron.model.ids import TopicPartition

PARTITIONS = ("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "BEHIND", "OWNER")
MEMBERS = ("MEMBER", "INSTANCE", "CLIENT", "HOST", "PARTITIONS")


class GroupReport(NamedTuple):
    """A group's description, and its lag by partition."""

    group: GroupDescription
    lags: dict[TopicPartition, Lag]

    @classmethod
    def gather(
        cls, admin: GroupAdmin, name: str, now_ms: int, left_out: LeftOut = lambda node, error: None
    ) -> GroupReport:
        """Ask the coordinator, and the leaders of the group's partitions, of which some may be left out."""
        group = admin.describe(name)
        return cls(group, admin.lag(group, now_ms, left_out))

    def as_text(self) -> str:
        """The report as text."""
        parts = [f"{self.group.id}: {', '.join(self._facts())}"]
        if not self.group.is_of_consumers:
            parts.append(unserved(self.group.type))
        if self.lags:
            owners = self.group.owners()
            rows = [_partition_row(each, lag, owners.get(each)) for each, lag in self.lags.items()]
            parts.append(columns(PARTITIONS, rows))
        if self.group.members:
            parts.append(columns(MEMBERS, map(_member_row, self.group.members)))
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON; what is not known is null."""
        group, owners = self.group, self.group.owners()
        broker = group.coordinator
        return {
            "group": group.id,
            "type": group.type,
            "protocol_type": group.protocol_type,
            "state": group.state,
            "assignor": group.assignor or None,
            "epoch": None if group.epoch == NO_EPOCH else group.epoch,
            "coordinator": {"id": broker.id, "host": broker.address.host, "port": broker.address.port},
            "members": [_member_json(each) for each in group.members] if group.is_of_consumers else None,
            "partitions": [_partition_json(each, lag, owners.get(each)) for each, lag in self.lags.items()],
        }

    def _facts(self) -> list[str]:
        group = self.group
        behind = [lag for lag in self.lags.values() if lag.records is not None]
        facts = [group.state, f"{group.type} {'protocol' if group.is_of_consumers else 'group'}"]
        facts += [f"assignor {group.assignor}"] if group.assignor else []
        facts += [f"coordinator {group.coordinator.id} ({group.coordinator.address})"]
        facts += [plural(len(group.members), "member")] if group.is_of_consumers else []
        if behind:
            longest = max((lag.ms for lag in behind if lag.ms is not None), default=0)
            records = plural(sum(lag.records or 0 for lag in behind), "record")
            facts += [f"behind by {records}" + (f" and {show_duration(longest)}" if longest else "")]
        unread = [lag.unread for lag in self.lags.values() if lag.unread]
        if unread:
            where = f"{plural(len(unread), 'partition')} with {plural(sum(unread), 'record')}"
            facts += [f"nothing committed of {where}: auto.offset.reset says where it begins"]
        return facts


def unserved(type: str) -> str:
    """The line about a share or streams group, which is kept for Kafka and not served."""
    return (
        f"Andiron keeps {type} groups for Kafka and does not serve them; Kafka's kafka-{type}-groups.sh tells who is "
        "in one, and changes it, where Kafka serves it"
    )


def _partition_row(partition: TopicPartition, lag: Lag, owner: GroupMember | None) -> tuple[Any, ...]:
    return (
        partition.topic,
        partition.partition,
        None if lag.committed is None else lag.committed.offset,
        lag.end,
        f"0 to {lag.unread}" if lag.unread else lag.unread if lag.committed is None else lag.records,
        None if lag.ms is None else show_duration(lag.ms),
        None if owner is None else owner.instance_id or owner.id,
    )


def _member_row(member: GroupMember) -> tuple[str | None, ...]:
    has = "not told" if member.partitions is None else show_partitions(member.partitions) or "none"
    if member.target is not None and member.target != member.partitions:
        has += f" (to be {show_partitions(member.target) or 'none'})"
    return (member.id, member.instance_id, member.client_id, member.host.lstrip("/"), has)


def _member_json(member: GroupMember) -> dict[str, Any]:
    return {
        "id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host.lstrip("/"),
        "rack": member.rack,
        "epoch": None if member.epoch == NO_EPOCH else member.epoch,
        "topics": member.topics,
        "partitions": None if member.partitions is None else partitions_as_json(member.partitions),
        "target": None if member.target is None else partitions_as_json(member.target),
    }


def _partition_json(partition: TopicPartition, lag: Lag, owner: GroupMember | None) -> dict[str, Any]:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "committed": lag.committed.offset if lag.committed else None,
        "metadata": lag.committed.metadata if lag.committed else None,
        "end": lag.end,
        "lag": lag.records,
        "unread": lag.unread,
        "lag_seconds": None if lag.ms is None else lag.ms / 1000,
        "owner": owner.id if owner else None,
    }
