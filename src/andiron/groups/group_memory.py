"""The memory that groups and their members take, and a bound on it for all groups of a node.

A member says up to a batch of itself, and is remembered for as long as its session lasts, which it chooses
(group.max.session.timeout.ms), whether its connection is there or not. Names of groups are chosen too. So all groups
of a node are weighed together, and where they come to more than MEMORY_MAX a newcomer is told to come again
(COORDINATOR_LOAD_IN_PROGRESS, on which every client asks the same coordinator again after a pause), as is a member
that says more than before. Members that go on as they are notice nothing. Sessions that end make room again.

Kafka has no such bound, and its broker runs out of memory. Offsets are not counted: they can be committed only of
partitions that are there, and expire (offsets/expiry.py).

The weights are about right, and known without a walk: every group keeps its own (`Group.bytes_held`), and is looked at
after whatever may have changed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from andiron.groups.sizes import bytes_said
from andiron.model.errors import ErrorCode
from andiron.model.settings import MIB
from andiron.wire.messages.join_group import JoinGroupRequest

if TYPE_CHECKING:
    from andiron.groups.group import Group

MEMORY_MAX = 256 * MIB
# What Python takes, measured with tracemalloc: a group or member with all its tables and timers, a name in a list, a
# partition in the tables of who is to have it, who has it, and whose it is.
GROUP_BYTES, MEMBER_BYTES, TEXT_BYTES, PARTITION_BYTES = 1_500, 1_200, 60, 100


class GroupMemory:
    """The memory that the groups of one shard take, group by group."""

    def __init__(self, groups: Mapping[str, Group]) -> None:
        self._groups = groups
        self._weights: dict[str, int] = {}
        self.total = 0

    def __len__(self) -> int:
        return len(self._weights)

    def note(self, group_id: str) -> None:
        """Weigh a group anew, after a request that may have changed it."""
        group = self._groups.get(group_id)
        self.total -= self._weights.pop(group_id, 0)
        if group is not None:
            weight = self._weights[group_id] = group.bytes_held
            self.total += weight

    def check(self, request: Any, held_by_all: int) -> None:
        """Raise COORDINATOR_LOAD_IN_PROGRESS for a new member, or one that grows, while groups take over MEMORY_MAX."""
        said = bytes_said(request) if held_by_all > MEMORY_MAX else 0
        if not said:
            return
        group = self._groups.get(request.group_id)
        instance_id = request.group_instance_id if type(request) is JoinGroupRequest else request.instance_id
        known = None if group is None else group.bytes_held_for(request.member_id, instance_id)
        if known is None or said > known:
            raise ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.error(
                f"all groups here hold {held_by_all} bytes, and {MEMORY_MAX} are allowed"
            )
