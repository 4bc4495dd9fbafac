"""confluent-kafka in transactions."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from peers.transactors.program import PATIENCE_S, Input, Program

# With every node gone at once librdkafka begins anew from its bootstrap servers, and a transactional call that is under
# way then may wait for ever (2.16, against any broker); told not to, it reconnects to the nodes it knows.
QUIET = {"log_level": 0, "reconnect.backoff.max.ms": 200, "metadata.recovery.strategy": "none"}


class Confluent(Program):
    """librdkafka's transactional producer, and its consumer as a member of a group."""

    def open(self, bootstrap: str, id: str, timeout_ms: int) -> None:
        settings = {"transactional.id": id, "transaction.timeout.ms": timeout_ms, "linger.ms": 1}
        self.producer = Producer({"bootstrap.servers": bootstrap, **settings, **QUIET})
        self.producer.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, topic: str, partition: int, values: Sequence[bytes], wait: bool) -> list[int]:
        offsets: list[int] = []
        errors: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            errors.append(error) if error else offsets.append(message.offset() or 0)

        for value in values:
            self.producer.produce(topic, value, partition=partition, on_delivery=delivered)
        if wait:
            self._flush()
        if errors:
            raise KafkaException(errors[0])
        return offsets

    def _flush(self) -> None:
        try:
            self.producer.flush(PATIENCE_S)
        except SystemError as error:  # a fatal error was raised beneath a delivery callback
            raise error.__cause__ or error from None

    def offsets(self, bootstrap: str, group: str, topic: str, offsets: dict[int, int]) -> None:
        places = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
        stranger = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **QUIET})
        self.producer.send_offsets_to_transaction(places, stranger.consumer_group_metadata(), PATIENCE_S)
        stranger.close()

    def commit(self) -> None:
        self.producer.commit_transaction(PATIENCE_S)

    def abort(self) -> None:
        self.producer.abort_transaction(PATIENCE_S)

    def join(self, bootstrap: str, topic: str, group: str, instance: str, most: int) -> None:
        member = {"group.id": group, "group.instance.id": instance, "enable.auto.commit": False}
        reading = {"auto.offset.reset": "earliest", "isolation.level": "read_committed"}
        self.consumer = Consumer({"bootstrap.servers": bootstrap, **member, **reading, **QUIET})
        self.consumer.subscribe([topic])
        self.topic, self.most = topic, most

    def poll(self, wait_ms: int) -> list[Input]:
        found = []
        for message in self.consumer.consume(self.most, timeout=wait_ms / 1000):
            if (error := message.error()) is None:
                partition, offset, value = message.partition(), message.offset(), message.value()
                assert partition is not None and offset is not None and value is not None
                found.append(Input(partition, offset, value))
            elif error.fatal():
                raise KafkaException(error)
        return found

    def send_positions(self, positions: dict[int, int]) -> None:
        places = [TopicPartition(self.topic, number, offset) for number, offset in positions.items()]
        member = self.consumer.consumer_group_metadata()
        self.producer.send_offsets_to_transaction(places, member, PATIENCE_S)

    def told(self, error: Exception) -> tuple[int, str]:
        if not isinstance(error, KafkaException):
            return super().told(error)
        cause = error.args[0]
        return cause.code(), cause.name()


if __name__ == "__main__":
    Confluent().run()
