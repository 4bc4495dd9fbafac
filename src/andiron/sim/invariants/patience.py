"""A transaction is given its time: nobody but its producer ends it before its timeout is over.

Time is the world's, which never jumps; the clocks on the walls of the machines do. So a coordinator that measures by
one of these ends a transaction that has just begun, when somebody sets the clock. What it did not see begin it can only
reckon from a record, by clocks of which one may have been set since: that is not looked at.
"""

from __future__ import annotations

from andiron.broker.coordinators.shard import Shard
from andiron.model.effects import Woken
from andiron.sim.host import Host
from andiron.sim.watcher import Violation, Watcher
from andiron.transactions.shard import TransactionShard
from andiron.transactions.states import State

GIVEN = "a transaction is given its time"

NOT_SEEN = -1  # when it began


class TransactionsHaveTheirTime(Watcher):
    """Notes when each begins, and how long it has had when a coordinator ends it by itself."""

    def __init__(self) -> None:
        self._began: dict[
            TransactionShard, dict[str, int]
        ] = {}  # by coordinator: what is ongoing, by the world's time

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        changed = list(host.changed)
        for shard in host.node.broker.transactions.shards if changed else ():
            if shard.partition in changed:
                self._look(host, shard)

    def _look(self, host: Host, shard: Shard[TransactionShard]) -> None:
        is_new = shard.machine not in self._began
        began = self._began.setdefault(shard.machine, {})
        for id, transaction in shard.machine.transactions.items():
            if transaction.state is State.ONGOING:
                began.setdefault(id, NOT_SEEN if is_new else host.world.now)
                continue
            since = began.pop(id, NOT_SEEN)
            had_ms = host.world.now - since
            is_by_itself = host.event is Woken and transaction.state is State.PREPARE_ABORT
            if since != NOT_SEEN and is_by_itself and had_ms < transaction.timeout_ms:
                how = f"{id} had {had_ms} ms of {transaction.timeout_ms}, by {host.name}"
                raise Violation(GIVEN, how)
