"""A member of a classic group: what it has told the coordinator, and what it waits for.

A member names the protocols it could use (for consumers: the assignors), each with its metadata (the
subscription), the one it likes best first. It asks twice for each generation and is answered by what the others do:

    JoinGroup ── join ──▶ answered when all have joined          SyncGroup ── sync ──▶ when the leader has assigned

While it waits for either it need not send heartbeats, for it cannot: a client has one request under way.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from andiron.groups.group_memory import MEMBER_BYTES
from andiron.model.machine import Promise
from andiron.wire.messages.join_group import JoinGroupRequestProtocol


@dataclass(eq=False, slots=True)
class ClassicMember:
    """One member; `instance_id` if it is static, which means that it keeps its place over a restart."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: dict[str, bytes]  # metadata by name, in the order of preference
    assignment: bytes = b""
    is_new: bool = field(default=False, kw_only=True)  # it has never been part of a generation
    join: Promise | None = field(default=None, kw_only=True)
    sync: Promise | None = field(default=None, kw_only=True)
    weighed: int = field(default=0, kw_only=True)  # what it takes in memory, as its group has counted it

    def metadata(self, protocol: str | None) -> bytes:
        """The metadata that the member sent for this protocol: for consumers, its subscription."""
        return b"" if protocol is None else self.protocols.get(protocol, b"")

    def has_protocols(self, protocols: dict[str, bytes]) -> bool:
        """Whether the member joined with just these protocols and metadata, in this order."""
        return list(self.protocols.items()) == list(protocols.items())

    def vote(self, candidates: Container[str]) -> str:
        """The candidate that it likes best."""
        return next(name for name in self.protocols if name in candidates)

    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        texts = (self.id, self.instance_id or "", self.client_id, *self.protocols)
        return MEMBER_BYTES + sum(map(len, (*texts, *self.protocols.values(), self.assignment)))

    @property
    def may_be_silent(self) -> bool:
        """Whether the member waits for a response, and so sends no heartbeats. A newcomer's time for it: join.py."""
        return not self.is_new and (self.join is not None or self.sync is not None)


def protocols_of(protocols: Iterable[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    """The protocols of a JoinGroup request, by name. One that is named twice counts where it came first."""
    found: dict[str, bytes] = {}
    for protocol in protocols:
        found.setdefault(protocol.name, protocol.metadata)
    return found
