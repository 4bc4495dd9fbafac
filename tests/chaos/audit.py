"""The account: all that is in the log, beside what everybody was told.

    lost         acknowledged, and not there
    moved        acknowledged at an offset at which there is another record
    repeated     there twice, by a producer that is idempotent
    reordered    of one writer in one partition, the later number before the earlier one
    torn         of a transaction, some records and not all
    undead       of a transaction that was aborted
    failed       given up by a library, though every fault was over in time
    fatal        a transactional producer that has done nothing wrong was told to end
    unread       in the log, and not seen by a group that has committed it
    changed      seen by a group as one record, and there as another

Read next: arena.py, which asks for it.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from chaos.bankers import Banker
from chaos.ledger import Acked, Ledger, parse
from chaos.readers import GroupReader
from chaos.writers.confluent import QUIET

Log = dict[int, dict[int, bytes]]  # partition → offset → value

PATIENCE_S = 60.0


def read_log(bootstrap: str, topic: str, partitions: int, *, committed: bool) -> Log:
    """Every record up to the end, as one who reads for the first time."""
    told = {"bootstrap.servers": bootstrap, "group.id": "audit", "enable.auto.commit": False}
    told |= {"auto.offset.reset": "earliest", "enable.partition.eof": True, "fetch.wait.max.ms": 50}
    told["isolation.level"] = "read_committed" if committed else "read_uncommitted"
    consumer = Consumer(QUIET | told)
    log: Log = {each: {} for each in range(partitions)}
    try:
        places = [TopicPartition(topic, each, 0) for each in range(partitions)]
        ends = {each.partition: consumer.get_watermark_offsets(each, PATIENCE_S)[1] for each in places}
        consumer.assign(places)
        left, until = set(log), time.monotonic() + PATIENCE_S
        while left:
            messages = consumer.consume(5000, timeout=0.2)
            if messages:
                until = time.monotonic() + PATIENCE_S
            elif time.monotonic() > until:
                raise AssertionError(f"nothing more of {topic} comes, before the end of {sorted(left)}")
            for message in messages:
                error = message.error()
                if error is None:
                    log[message.partition()][message.offset()] = message.value()
                    if message.offset() + 1 >= ends[message.partition()]:  # others are written meanwhile
                        left.discard(message.partition())
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition())
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()
    return log


class Verdict:
    """What was found wrong, by its name, each with where."""

    def __init__(self) -> None:
        self.wrong: dict[str, list[str]] = defaultdict(list)
        self.checked: Counter[str] = Counter()

    @property
    def is_good(self) -> bool:
        return not any(self.wrong.values())

    def note(self, what: str, where: str) -> None:
        self.wrong[what].append(where)

    def __str__(self) -> str:
        checked = ", ".join(f"{count:,} {what}" for what, count in self.checked.items())
        if self.is_good:
            return f"good: {checked}"
        told = [f"{len(all_)} {what} ({'; '.join(all_[:5])}…)" for what, all_ in self.wrong.items() if all_]
        return f"WRONG: {', '.join(told)}; of {checked}"


def check_writer(verdict: Verdict, ledger: Ledger, told: dict[int, list[Acked]], log: Log) -> None:
    """A writer's records: there, once, in order, where it was told."""
    for partition, records in log.items():
        own = [
            (offset, parse(value)[1]) for offset, value in sorted(records.items()) if _is_of(ledger, value)
        ]
        where = {number: offset for offset, number in own}
        name = f"{ledger.writer} {partition}"
        if len(where) < len(own):
            counts = Counter(number for _, number in own)
            for number, count in counts.items():
                if count > 1:
                    at = [offset for offset, each in own if each == number]
                    verdict.note("repeated", f"{name}:{number} at {at}")
        for (_, before), (offset, number) in pairwise(own):
            if number < before:
                verdict.note("reordered", f"{name}:{number} at {offset} after {before}")
        for number, offset in told.get(partition, []):
            verdict.checked["acknowledged"] += 1
            if number not in where:
                verdict.note("lost", f"{name}:{number} acknowledged at {offset}")
            elif offset >= 0 and where[number] != offset:
                verdict.note("moved", f"{name}:{number} acknowledged at {offset} is at {where[number]}")


def _is_of(ledger: Ledger, value: bytes) -> bool:
    return value.startswith(f"{ledger.writer}:".encode())


def check_banker(verdict: Verdict, banker: Banker, log: Log, upto: Iterable[int] | None = None) -> None:
    """Transactions, as one who reads committed records finds them."""
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for records in log.values():
        for value in records.values():
            name, number, at = value.decode().rsplit(":", 2)
            if name == banker.name:
                found[int(number)][int(at)] += 1
    committed = dict(banker.committed)
    for number in committed if upto is None else upto:
        verdict.checked["transactions"] += 1
        if number not in found:
            verdict.note("lost", f"transaction {banker.name}:{number}")
    for number, records in found.items():
        wanted = committed.get(number) or banker.unknown.get(number)
        if wanted is None and number in banker.aborted:
            verdict.note("undead", f"transaction {banker.name}:{number}")
        elif wanted is not None and upto is None and len(records) != wanted:
            verdict.note("torn", f"transaction {banker.name}:{number}: {len(records)} of {wanted}")
        if max(records.values()) > 1:
            verdict.note("repeated", f"transaction {banker.name}:{number}")


def check_reader(verdict: Verdict, reader: GroupReader, log: Log) -> None:
    """A group has seen every record, and none that is not there."""
    for partition, records in log.items():
        for offset, value in records.items():
            verdict.checked[f"read by {reader.name}"] += 1
            seen = reader.seen.get((partition, offset))
            if seen is None:
                verdict.note("unread", f"{reader.name} {partition}@{offset}")
            elif seen != value:
                verdict.note("changed", f"{reader.name} {partition}@{offset}: {seen!r} is {value!r}")
    for (partition, offset), value in reader.seen.items():
        if offset not in log[partition]:
            verdict.note("changed", f"{reader.name} {partition}@{offset}: {value!r} is gone")
    for each in reader.changed:
        verdict.note("changed", f"{reader.name} {each}")
