"""A marker says what the coordinator has decided, after it has, and once.

When a marker appears in a log, the coordinator's own log says the same of its producer: prepared to be
committed, or aborted, and that record is committed, so that no crash can take it back. Under transaction version 2,
where markers have an epoch that no other has, a log has one of them at most.
"""

from __future__ import annotations

from andiron.broker.coordinators.transaction_coordinator import TOPIC as TRANSACTIONS
from andiron.model.ids import NEVER
from andiron.records.record import Record
from andiron.sim.canon import Canons
from andiron.sim.host import Host
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.leaders import Replica, all_led, replicas
from andiron.sim.mirror import Key, Mirror, Mirrors, StoredBatch, key_of
from andiron.sim.watcher import End, Violation, Watcher
from andiron.transactions.records import decode_record
from andiron.transactions.states import State
from andiron.transactions.transaction import BUMPING, Transaction, transaction_of

DECIDED = "markers follow decisions"
ONCE = "a marker is there once"


class MarkersFollowDecisions(Watcher):
    """Looks at each marker when it appears."""

    def __init__(self, mirrors: Mirrors, excuse: Excuse, canons: Canons | None = None) -> None:
        """`canons` are for those who are not alone."""
        self._mirrors, self._excuse, self._canons = mirrors, excuse, canons
        self._seen: dict[Key, int] = {}  # batches of each log that have been looked at
        self._known: dict[Key, None] = {}  # logs that were looked at since their node began to lead

    def went_down(self, host: Host, end: End) -> None:
        self._known = {key: None for key in self._known if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        for partition in host.changed:
            mirror = self._mirrors.of(host, partition)
            if mirror.fell is not None:
                continue
            key = key_of(host, partition)
            if not partition.leads:  # and has what was looked at where it was written
                self._known.pop(key, None)
                self._seen[key] = len(mirror.batches)
                continue
            seen = min(self._seen.get(key, 0), len(mirror.batches))
            for stored in mirror.batches[seen:]:
                if stored.marker is not None and not self._excuse.is_given:
                    # Those of a step that was cut short are seen after a restart, which commits what is there.
                    self._check(host, mirror, stored, was_committed=key not in self._known)
            self._seen[key] = len(mirror.batches)
            self._known[key] = None

    def _check(self, host: Host, mirror: Mirror, stored: StoredBatch, *, was_committed: bool) -> None:
        decided = self._decision_on(host, stored.producer, was_committed=was_committed)
        wanted = State.PREPARE_COMMIT if stored.marker else State.PREPARE_ABORT
        if decided is None or decided.state is not wanted:
            stands = "nothing" if decided is None else decided.state.title
            raise Violation(
                DECIDED, f"{mirror.name}: {wanted.title} of {stored.producer}; decided is {stands}"
            )
        same = [
            each for each in mirror.batches if each.marker is not None and each.producer == stored.producer
        ]
        if decided.version == BUMPING and len(same) > 1:
            raise Violation(ONCE, f"{mirror.name}: {stored.producer} ends at {[each.base for each in same]}")

    def _decision_on(
        self, host: Host, producer: tuple[int, int], *, was_committed: bool
    ) -> Transaction | None:
        """The last committed decision about a producer's transaction, on whichever node it was made."""
        for replica in all_led(host.world):
            if replica.partition.name.topic == TRANSACTIONS:
                committed = NEVER if was_committed else self._committed(replica)
                found = _find(self._mirrors.of(*replica).records, producer, committed)
                if found is not None:
                    return found
        for canon in () if self._canons is None else self._canons.values():  # whose leader may be gone since
            found = _find(canon.records, producer, canon.end) if canon.name.topic == TRANSACTIONS else None
            if found is not None:
                return found
        return None

    def _committed(self, replica: Replica) -> int:
        """Up to where decisions count: a new leader may not know yet what the last one has committed, and that one not
        that it leads no more."""
        known = [other.partition.watermark for other in replicas(replica.host.world, replica.partition.name)]
        return max(*known, 0 if self._canons is None else self._canons.of(replica.partition).end)


def _find(records: dict[int, Record], producer: tuple[int, int], committed: int) -> Transaction | None:
    for offset in reversed(records):
        if offset >= committed:
            continue
        record = decode_record(records[offset].key, records[offset].value)
        if record is None or record.value is None:
            continue
        transaction = transaction_of(record.transactional_id, record.value)
        if transaction.producer == producer and transaction.state.is_prepared:
            return transaction
    return None
