"""kafka-python in transactions."""

from __future__ import annotations

from collections.abc import Sequence

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from peers.transactors.program import PATIENCE_S, Input, Program


class KafkaPython(Program):
    """kafka-python's transactional producer, and its consumer as a member of a group."""

    def open(self, bootstrap: str, id: str, timeout_ms: int) -> None:
        settings = {"transactional_id": id, "transaction_timeout_ms": timeout_ms}
        self.producer = KafkaProducer(
            bootstrap_servers=bootstrap, reconnect_backoff_max_ms=200, linger_ms=1, **settings
        )
        self.producer.init_transactions()

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, topic: str, partition: int, values: Sequence[bytes], wait: bool) -> list[int]:
        sent = [self.producer.send(topic, value, partition=partition) for value in values]
        return [future.get(PATIENCE_S).offset for future in sent] if wait else []

    def offsets(self, bootstrap: str, group: str, topic: str, offsets: dict[int, int]) -> None:
        self.producer.send_offsets_to_transaction(_places(topic, offsets), group)

    def commit(self) -> None:
        self.producer.commit_transaction()

    def abort(self) -> None:
        self.producer.abort_transaction()

    def join(self, bootstrap: str, topic: str, group: str, instance: str, most: int) -> None:
        self.consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            group_instance_id=instance,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_poll_records=most,
            reconnect_backoff_max_ms=200,
        )
        self.consumer.topics()  # one that joins before it knows the topics may be left without partitions
        self.topic = topic

    def poll(self, wait_ms: int) -> list[Input]:
        batches = self.consumer.poll(wait_ms).values()
        return [Input(record.partition, record.offset, record.value) for batch in batches for record in batch]

    def send_positions(self, positions: dict[int, int]) -> None:
        self.producer.send_offsets_to_transaction(
            _places(self.topic, positions), self.consumer.group_metadata()
        )


def _places(topic: str, offsets: dict[int, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        TopicPartition(topic, number): OffsetAndMetadata(offset, "", -1) for number, offset in offsets.items()
    }


if __name__ == "__main__":
    KafkaPython().run()
