"""A transaction is all or nothing: its records in every partition, and the offset it commits.

Looked at when all is at rest, for every transaction ever undertaken (journal.py):

* if one batch of it counts, all do, and each is there once
* if its producer was told that it is committed, they do; if it never asked for that, they do not
* those that count follow one another: where one of a group has stopped reading, the next begins, from 0 to the offset
  that the group has in the end. A zombie, a late request or an offset that counts without its records would
  leave a gap or an overlap
* nothing hangs: when everybody has finished, no transaction is open, be it at its coordinator or in a partition
"""

from __future__ import annotations

from andiron.records.record import Record
from andiron.sim.canon import Canon, Canons
from andiron.sim.host import Host
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.journal import Effort, Journal
from andiron.sim.leaders import all_led
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirror, Mirrors, StoredBatch
from andiron.sim.verdicts import Verdict
from andiron.sim.watcher import Violation, Watcher
from andiron.sim.world import World

ATOMIC = "a transaction is all or nothing"
TWICE = "a batch of a transaction is there once"
CHAIN = "each input counts once"
HANGS = "no transaction hangs"


class TransactionsAreAtomic(Watcher):
    """Holds what counts against what was undertaken."""

    def __init__(
        self, mirrors: Mirrors, ledger: Ledger, journal: Journal, excuse: Excuse, canons: Canons | None = None
    ) -> None:
        """`canons` are for those who are not alone: a replica that came late has only what compaction left."""
        self._mirrors, self._ledger, self._journal, self._excuse = mirrors, ledger, journal, excuse
        self._canons = canons

    def is_restless(self, host: Host) -> bool:
        return not self._excuse.is_given and self._hanging(host) is not None

    def rested(self, host: Host) -> None:
        if self._excuse.is_given:
            return
        hanging = self._hanging(host)
        if hanging is not None:
            raise Violation(HANGS, hanging)
        if host is not next(iter(host.world.hosts.values())):
            return  # once is enough
        verdicts = self._verdicts(host.world)
        chains: dict[tuple[str, str, int], list[Effort]] = {}
        for effort in self._journal.efforts:
            if _counts(effort, verdicts):
                chains.setdefault((effort.group, *effort.place), []).append(effort)
        for (group, topic, partition), efforts in chains.items():
            _check_chain(efforts, committed_offset(host.world, group, topic, partition))

    def _hanging(self, host: Host) -> str | None:
        if host.node is None:
            return "the node is down"
        broker = host.node.broker
        if broker.transactions.shards.loading:
            return "the coordinator is loading"
        for shard in broker.transactions.shards:
            for transaction in shard.machine.transactions.values():
                if not transaction.state.is_at_rest:
                    return f"{transaction.id} is in {transaction.state.title}"
        for partition in broker.replica_manager:
            if not partition.leads:
                continue
            writers = self._mirrors.of(host, partition).verdicts.writers()
            if writers:
                return f"{partition.name} has open transactions of {writers}"
        return None

    def _verdicts(self, world: World) -> dict[int, Verdict]:
        """What became of each batch, by its number."""
        found: dict[int, Verdict] = {}
        logs: list[Mirror | Canon] = [self._mirrors.of(*replica) for replica in all_led(world)]
        for log in logs if self._canons is None else self._canons.values():
            for stored, verdict in log.decisions():
                first = _first(log, stored) if stored.transactional and stored.marker is None else None
                sent = None if first is None else self._ledger.find(first)
                if sent is not None and sent.partition == log.name:
                    if sent.number in found:
                        raise Violation(TWICE, f"{log.name}: batch {sent.number}, once more at {stored.base}")
                    found[sent.number] = verdict
        return found


def _first(log: Mirror | Canon, stored: StoredBatch) -> Record | None:
    """The first record of a batch, unless compaction took them all before it was copied."""
    return next((log.records[at] for at in range(stored.base, stored.end) if at in log.records), None)


def committed_offset(world: World, group: str, topic: str, partition: int) -> int | None:
    """The offset that a group has committed, as its coordinator has it: of several, the latest."""
    latest: tuple[int, int | None] = -1, None
    for host in world.hosts.values():
        for shard in () if host.node is None else host.node.broker.groups.shards:
            offsets = shard.machine.offsets.of(group)
            if offsets is not None and shard.partition.epoch > latest[0]:
                found = offsets.get(topic, partition)
                latest = shard.partition.epoch, None if found is None else found.offset
    return latest[1]


def _counts(effort: Effort, verdicts: dict[int, Verdict]) -> bool:
    counted = [sent for sent in effort.batches if verdicts.get(sent.number) is Verdict.COMMITTED]
    told = f"transaction {effort.number}: {len(counted)} of {len(effort.batches)} batches count"
    if counted and len(counted) < len(effort.batches):
        raise Violation(ATOMIC, told)
    if counted and not effort.wish:
        raise Violation(ATOMIC, f"{told}; its producer did not ask for that")
    if effort.told and not counted:
        raise Violation(ATOMIC, f"{told}; its producer was told that they do")
    return bool(counted)


def _check_chain(efforts: list[Effort], reached: int | None) -> None:
    place = 0
    for effort in sorted(efforts, key=lambda each: each.start):
        if effort.start != place:
            what = f"transaction {effort.number} of {effort.group} begins at {effort.start}, not {place}"
            raise Violation(CHAIN, what)
        place = effort.stop
    if reached != place:
        raise Violation(CHAIN, f"{efforts[0].group} is at {reached}; its transactions have come to {place}")
