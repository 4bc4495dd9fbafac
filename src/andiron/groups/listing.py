"""ListGroups: the groups of a shard with their states and types, filtered by both (KIP-518, KIP-848).

A group of offsets alone is one too: it is listed as a classic group that is empty and has no protocol. So are those
that Kafka made and nobody serves here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from andiron.groups.group import CLASSIC, CONSUMER, GroupContext
from andiron.groups.offsets.table import Offsets
from andiron.groups.records import SHARE, STREAMS, GroupRecord
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

EMPTY = "Empty"
# States and types in lower case, as filters are compared with them.
STATES = frozenset(
    (
        "empty",
        "preparingrebalance",
        "completingrebalance",
        "stable",
        "dead",
        "assigning",
        "reconciling",
        "unknown",
    )
)
TYPES = frozenset((CLASSIC, CONSUMER, SHARE, STREAMS))


def existing_filters(said: Iterable[str], known: Container[str]) -> list[str]:
    """The states or types of a filter that exist, each once. If there is none, one of the others: a filter
    that lets nothing through is not the same as none. Every shard reads it, and a request may have thousands."""
    words = dict.fromkeys(word.lower() for word in said)
    return [word for word in words if word in known] or list(words)[:1]


def list_groups(asked: CoordinatorRequest, context: GroupContext, offsets: Offsets) -> Decision[GroupRecord]:
    """The groups in one of the wanted states and of one of the wanted types; no filter lets all through."""
    request: ListGroupsRequest = asked.body
    states = {state.strip().lower() for state in request.states_filter}
    types = {type.lower() for type in request.types_filter}
    groups = [
        group
        for group in _all(context, offsets)
        if (not states or group.group_state.lower() in states) and (not types or group.group_type in types)
    ]
    return Decision(ListGroupsResponse(groups=groups))


def _all(context: GroupContext, offsets: Offsets) -> Iterator[ListedGroup]:
    for group in context.groups.values():
        yield ListedGroup(group.id, group.protocol_type, group.state, group.kind)
    for group_id in offsets:
        if group_id not in context.groups:
            yield ListedGroup(group_id, "", EMPTY, CLASSIC)
