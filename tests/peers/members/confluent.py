"""A member in confluent-kafka, which is librdkafka: both protocols."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from peers.members.member import POLL_S, Command, Member, Place, main


class Confluent(Member):
    """Its callbacks are called from within poll(), and it applies the assignment itself after them."""

    errors = KafkaException

    def open(self) -> None:
        self._consumer = Consumer(settings(self.spec))
        self._know_topics()
        self._consumer.subscribe(
            self.spec["topics"] or [self.spec["pattern"]],
            on_assign=lambda _, places: self.journal.assigned(map(_place, places)),
            on_revoke=lambda _, places: self._revoked(places),
            on_lost=lambda _, places: self.journal.gone("lost", map(_place, places)),
        )

    def _know_topics(self) -> None:
        """In the new protocol a member that does not know the name of a topic which it is given asks for it, and says
        meanwhile that it owns nothing. Where that takes longer than a heartbeat, as on a busy machine, and the group
        changes, two own a partition for a moment, with Kafka as with us: a trap of the library, and not what is tested
        here (test_group_epochs.py has the coordinator's side of it)."""
        if self.spec["protocol"] == "consumer":
            for topic in self.spec["topics"]:
                self._consumer.list_topics(topic)

    def poll(self) -> bool:
        message = self._consumer.poll(POLL_S)
        if message is None:
            return False
        if (error := message.error()) is not None:
            raise KafkaException(error)
        place = (str(message.topic()), int(message.partition() or 0))
        self.journal.record(place, int(message.offset() or 0), message.value())
        return True

    def commit(self, offsets: dict[Place, int]) -> None:
        places = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        self._consumer.commit(offsets=places, asynchronous=False)

    def close(self) -> None:
        self._consumer.close()

    def told(self, error: KafkaException) -> tuple[int, str]:
        return error.args[0].code(), error.args[0].str()

    def _revoked(self, places: list[TopicPartition]) -> None:
        if self.journal.owned:  # when closing, all of it was given back before
            self.commit_processed()
            self.journal.gone("revoked", map(_place, places))


def _place(found: TopicPartition) -> Place:
    return found.topic, found.partition


def settings(spec: Command) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "bootstrap.servers": spec["bootstrap"],
        "group.id": spec["group"],
        "auto.offset.reset": spec["reset"],
        "enable.auto.commit": bool(spec.get("auto_commit")),
        "auto.commit.interval.ms": 200,
        "fetch.wait.max.ms": 100,
        "topic.metadata.refresh.interval.ms": 2000,
        "log_level": 3,
    }
    if spec.get("instance"):
        chosen["group.instance.id"] = spec["instance"]
    if spec.get("poll_ms"):
        chosen["max.poll.interval.ms"] = spec["poll_ms"]
    if spec["protocol"] == "consumer":
        return chosen | {"group.protocol": "consumer", "group.remote.assignor": spec["assignor"]}
    chosen |= {"session.timeout.ms": spec["session_ms"], "heartbeat.interval.ms": spec["heartbeat_ms"]}
    return chosen | {"partition.assignment.strategy": spec["assignor"]}


if __name__ == "__main__":
    main(Confluent)
