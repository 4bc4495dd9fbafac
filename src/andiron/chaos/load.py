"""The load: writers that send records as they become due, and note what becomes of each.

    writer 0..n ──what is due, as one batch──▶ the leader      Sent(number, due at, acknowledged at, offset)

Records become due at a rate, whether the cluster keeps up or not, as they do where they come from: a writer that had
to wait has more to send next. The time of a record is counted from when it was due, so that waiting is not hidden by
those who wait. Each writer is a thread with a client of its own (client/blocking has one thread to a client).

A batch whose answer is lost is sent again until it is given up; with acks=all the producer is idempotent, as Kafka's
are by default.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from andiron.chaos.records import NO_OFFSET, FoundRecord, SentRecord, parse_value, value_of
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.reader import PartitionReader
from andiron.client.core.descriptions import LATEST
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicPartition

WRITERS = 8
RATE = 60.0  # records a second, of each
SIZE = 512
BURST_MAX = 30  # records in a batch: as much as followers fetch at a time here
GIVEN_UP_MS = 45_000
STEADY_S = 0.7
STOP_TIMEOUT_S = 2 * GIVEN_UP_MS / 1000
PATIENT = ClientSettings(
    client_id="andiron-chaos",
    socket_connection_setup_timeout_ms=1_000,
    request_timeout_ms=4_000,
    default_api_timeout_ms=GIVEN_UP_MS,
    retry_backoff_ms=20,
    retry_backoff_max_ms=200,
)


class Load:
    """Several writers to one partition; times are counted from `began`."""

    def __init__(
        self,
        bootstrap: str,
        partition: TopicPartition,
        acks: str,
        *,
        writers: int = WRITERS,
        rate: float = RATE,
    ) -> None:
        self.began = time.monotonic()
        self.problems: list[str] = []
        self._bootstrap, self._partition, self._rate = bootstrap, partition, rate
        self._settings = ProducerSettings(acks=acks, delivery_timeout_ms=GIVEN_UP_MS)
        self._over = threading.Event()
        self._sent: list[list[SentRecord]] = [[] for _ in range(writers)]
        self._threads = [
            threading.Thread(target=self._write, args=(at,), name=f"writer-{at}", daemon=True)
            for at in range(writers)
        ]

    @property
    def sent(self) -> list[SentRecord]:
        """All records up to now, by the time at which they were sent."""
        return sorted((each for own in self._sent for each in list(own)), key=lambda each: each.sent_at)

    def now(self) -> float:
        return time.monotonic() - self.began

    def start(self) -> None:
        """Begin to write."""
        for thread in self._threads:
            thread.start()

    def stop(self, patience_s: float = STOP_TIMEOUT_S) -> None:
        """Write no more; what is under way is waited for."""
        self._over.set()
        until = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _write(self, writer: int) -> None:
        producer: Producer | None = None
        own = self._sent[writer]
        with Client(self._bootstrap, PATIENT) as client:
            while not self._over.wait(max(0.0, len(own) / self._rate - self.now())):
                count = min(BURST_MAX, 1 + int(self.now() * self._rate) - len(own))
                try:
                    producer = producer or Producer(client, self._settings)
                    own += self._send(producer, writer, range(len(own), len(own) + max(1, count)))
                except ProtocolError as error:
                    self.problems.append(str(error))
                    due = range(len(own), len(own) + max(1, count))
                    own += [SentRecord(writer, each, each / self._rate, None, NO_OFFSET) for each in due]
                    producer = None  # its numbering has a gap now, and it would be refused

    def _send(self, producer: Producer, writer: int, numbers: range) -> list[SentRecord]:
        topic, at = self._partition
        for number in numbers:
            producer.send(topic, value_of(writer, number, SIZE), partition=at)
        producer.flush()
        acked_at, end = self.now(), producer.delivered[self._partition].next
        first = end - len(numbers) if end >= 0 else None  # not told with acks=0
        return [
            SentRecord(
                writer, number, number / self._rate, acked_at, NO_OFFSET if first is None else first + place
            )
            for place, number in enumerate(numbers)
        ]


def read_back(bootstrap: str, partition: TopicPartition) -> list[FoundRecord]:
    """Every record of a partition, in the order of the log; the last ones when followers have them too."""
    with (
        Client(bootstrap, PATIENT) as client,
        PartitionReader(client, partition, 0, _steady_end(Admin(client), partition)) as reader,
    ):
        return [parse_value(bytes(each.value or b""), each.offset) for each in reader]


def _steady_end(admin: Admin, partition: TopicPartition) -> int:
    """The watermark, once it moves no more: a record of acks=1 may be shown a moment after its answer."""
    end = -1
    while end != (latest := admin.list_offsets({partition: LATEST})[partition].offset):
        end = latest
        time.sleep(STEADY_S)
    return end


def make_topic(
    bootstrap: str, name: str, partitions: int, settings: dict[str, str]
) -> Sequence[TopicPartition]:
    """A topic of three replicas, there and led."""
    with Client(bootstrap, PATIENT) as client:
        return Admin(client).create_topic(name, partitions, 3, settings).names()
