"""The offsets of a table's records that are dead letters, and up to where whoever writes those has decided.

    table                [0, 400)      as it was when the comparison began
    dead letters         [0, 350)      their reader's group says 350: below that each record is one, or never will be
                              [350, 400)    cannot be judged yet

Another query may write them, and it is where it is: a record that is neither a row nor a dead letter is missing only
where that query has come past it. Its group says how far it is, in the same transaction with its dead letters or
later. So the group is asked first and the topic read after that, up to an end at which no transaction is open. In a
pipeline that runs both are a matter of a batch or two, and are waited for.

Read next: verification.py.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.spark.frames.dead_letters import DeadLetters, origins
from andiron.spark.source.plan import Log
from andiron.spark.tables.table import ORIGIN

Counts = np.ndarray[Any, np.dtype[np.int64]]
NONE: Counts = np.empty(0, np.int64)
LOOK_EVERY_S = 0.2


class Patience:
    """How long a verification waits for open transactions and for the writer of dead letters, all in all."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def wait(self, is_so: Callable[[], bool]) -> bool:
        """Wait until a condition holds, or patience is over; whether it holds."""
        while not is_so():
            if time.monotonic() >= self._until:
                return False
            time.sleep(LOOK_EVERY_S)
        return True


class DeadLetterOffsets(NamedTuple):
    """Which records are dead letters, and which may still become some."""

    offsets: Mapping[TopicPartition, Counts]
    decided: Mapping[TopicPartition, int] | None  # up to where; None: all that the table holds
    why: str = ""  # not all is decided

    def of(self, partition: TopicPartition) -> Counts:
        """The offsets of a partition that are dead letters."""
        return self.offsets.get(partition, NONE)

    def end(self, partition: TopicPartition, end: int) -> int:
        """Up to where it is decided what is a dead letter, of a range that ends there."""
        return end if self.decided is None else min(end, self.decided.get(partition, 0))


def read_dead_letter_offsets(
    client: Client, letters: DeadLetters | None, ends: Mapping[TopicPartition, int], patience: Patience
) -> DeadLetterOffsets:
    """The dead letters of a reader, for a table that holds each partition up to `ends`."""
    if letters is None:
        return DeadLetterOffsets({}, None)
    decided, why = _await_reader(client, letters, ends, patience)
    there = logs_of(Admin(client), letters.topic, committed=False)

    def is_closed() -> bool:
        stable = logs_of(Admin(client), letters.topic)
        return all(stable[each].end >= log.end for each, log in there.items())

    if not patience.wait(is_closed):
        decided, why = {}, f"a transaction is open in {letters.topic}, which has the dead letters"
    return DeadLetterOffsets(_read(client, letters, logs_of(Admin(client), letters.topic)), decided, why)


def _await_reader(
    client: Client, letters: DeadLetters, ends: Mapping[TopicPartition, int], patience: Patience
) -> tuple[dict[TopicPartition, int] | None, str]:
    """The committed offsets of the dead letters' reader, where it has not come to `ends` in time; else None."""
    if not letters.group:
        return None, ""
    reached: dict[TopicPartition, int] = {}

    def is_there() -> bool:
        committed = GroupAdmin(client).committed(letters.group)
        reached.update({each: told.offset for each, told in committed.items()})
        return all(reached.get(each, 0) >= end for each, end in ends.items())

    if patience.wait(is_there):
        return None, ""
    return reached, f"group {letters.group}, whose dead letters they may be, has not come so far"


def _read(
    client: Client, letters: DeadLetters, logs: Mapping[TopicPartition, Log]
) -> dict[TopicPartition, Counts]:
    found: dict[TopicPartition, list[Counts]] = defaultdict(list)
    for partition, log in logs.items():
        with ColumnReader(client, partition, log.start, log.end, headers=True, committed=True) as reader:
            for rows in reader:
                came = origins(rows, letters.reader)
                table = pa.record_batch(
                    [came.topics, pa.array(came.partitions), pa.array(came.offsets)], names=list(ORIGIN)
                )
                for origin, offsets in by_partition(table):
                    found[origin].append(offsets)
    return {origin: np.concatenate(parts) for origin, parts in found.items()}


def logs_of(admin: Admin, topic: str, *, committed: bool = True) -> dict[TopicPartition, Log]:
    """From where to where each partition's log goes; none of a topic that is not there."""
    try:
        described = admin.topic(topic)
    except ProtocolError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return {}
        raise
    partitions = [TopicPartition(topic, each.number) for each in described.partitions]
    starts = admin.list_offsets(dict.fromkeys(partitions, EARLIEST))
    ends = admin.list_offsets(dict.fromkeys(partitions, LATEST), committed=committed)
    return {each: Log(starts[each].offset, ends[each].offset) for each in partitions}


def by_partition(rows: Any) -> Iterator[tuple[TopicPartition, Counts]]:
    """Offsets by partition, of rows with topic, partition and offset."""
    topics = rows.column("topic").dictionary_encode()
    partitions = rows.column("partition").to_numpy(zero_copy_only=False)
    offsets = rows.column("offset").to_numpy(zero_copy_only=False)
    codes = topics.indices.to_numpy(zero_copy_only=False)
    for code, topic in enumerate(topics.dictionary.to_pylist()):
        of_topic = codes == code
        for partition in np.unique(partitions[of_topic]):
            yield TopicPartition(topic, int(partition)), offsets[of_topic & (partitions == partition)]
