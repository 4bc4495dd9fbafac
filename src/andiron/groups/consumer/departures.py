"""Members of consumer groups go: because they say so, or because nothing is heard of them.

What a member held is free from then on, and the group's epoch moves, so that whoever is heard from next has the targets
made anew. A static member may also go for a while: it keeps all that it holds, until it is back under the same instance
id or its session is over.

When the last one goes that speaks the new protocol, what is left is a classic group, and becomes one if the policy
allows (migration.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from andiron.groups.classic.protocol import ClassicProtocol
from andiron.groups.consumer.change import Change
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import AWAY, Member
from andiron.groups.consumer.migration import downgraded, may_downgrade
from andiron.groups.consumer.patterns import Matches
from andiron.groups.consumer.records import current_record
from andiron.groups.consumer.sessions import Sessions
from andiron.groups.group import GroupContext
from andiron.groups.records import GroupRecord
from andiron.model.ids import Millis
from andiron.model.machine import Decision


class Departures:
    """How members of a shard's consumer groups leave them."""

    def __init__(
        self, context: GroupContext, matches: Matches, sessions: Sessions, classic: ClassicProtocol
    ) -> None:
        self._context, self._matches = context, matches
        self._sessions, self._classic = sessions, classic

    def remove(
        self, group: ConsumerGroup, leaving: Sequence[Member], response: Any, now: Millis, reason: str
    ) -> Decision[GroupRecord]:
        """Remove these members, and bump the group epoch."""
        if not leaving:
            return Decision(response)
        gone = {member.id for member in leaving}
        staying = {id: member for id, member in group.members.items() if id not in gone}
        if may_downgrade(list(staying.values()), self._context.settings):
            return Decision(response, self.downgrade(group, staying, now, rebalance=True), firm=False)
        change = Change(self._context, self._matches, group, now)
        change.remove(leaving, reason)
        for member in leaving:
            self._sessions.end(group.id, member.id)
        return Decision(response, change.records, firm=False)

    def away(self, group: ConsumerGroup, member: Member, response: Any) -> Decision[GroupRecord]:
        """A static member is gone for a while. What it was giving up it has given up by going; what it keeps may be
        committed by whoever comes back, at whichever epoch that is."""
        kept = {topic: dict.fromkeys(epochs, 0) for topic, epochs in member.assigned.items()}
        left = member._replace(epoch=AWAY, assigned=kept, revoking={})
        return Decision(response, [current_record(group.id, left)])

    def downgrade(
        self, group: ConsumerGroup, staying: Mapping[str, Member], now: Millis, *, rebalance: bool
    ) -> list[GroupRecord]:
        """Make the group a classic one, at once; `staying` as in migration.downgraded."""
        classic = downgraded(group, staying, self._context.topics, self._context.timers)
        for member_id in group.members:
            self._sessions.end(group.id, member_id)
        return [*group.tombstones(), self._classic.take_over(classic, now, rebalance=rebalance)]
