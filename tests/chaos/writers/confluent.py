"""librdkafka's idempotent producer."""

from __future__ import annotations

from confluent_kafka import KafkaError, Message, Producer

from chaos.writers.base import DELIVERY_MS, REQUEST_MS, Writer

QUIET = {
    "log_level": 0,
    "reconnect.backoff.max.ms": 500,
    "topic.metadata.refresh.fast.interval.ms": 50,
    "socket.timeout.ms": REQUEST_MS + 1000,
}


def talkative(debug: bool, name: str) -> dict[str, object]:
    """Settings for a client that tells on stderr what it does, under its name; none if nobody wants to know."""
    return {"debug": "cgrp,eos", "log_level": 7, "client.id": name} if debug else {}


class ConfluentWriter(Writer):
    """Up to five requests under way, sent again as often as it takes."""

    def run(self) -> None:
        told = {"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 5}
        told |= {"message.timeout.ms": DELIVERY_MS, "request.timeout.ms": REQUEST_MS}
        producer = Producer(QUIET | told, error_cb=self._failed)
        for partition in self.due():
            self._write(producer, partition, self.ledger.next(partition))
            producer.poll(0)
        left = producer.flush(DELIVERY_MS / 1000)
        if left:
            self.problem = f"{left} records of {self.ledger.writer} are not answered for"

    def _write(self, producer: Producer, partition: int, number: int) -> None:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.ledger.refused(partition, number, str(error))
            else:
                offset = message.offset()
                self.ledger.acknowledged(partition, number, -1 if offset is None else offset)

        while True:
            try:
                producer.produce(
                    self.topic, self.ledger.value(number), partition=partition, on_delivery=delivered
                )
                return
            except BufferError:
                producer.poll(0.1)

    def _failed(self, error: KafkaError) -> None:
        if error.fatal():
            self.problem = f"{self.ledger.writer}: {error}"
