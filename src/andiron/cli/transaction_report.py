"""Text and JSON of `andiron transaction`: descriptions, producers, and hanging transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from andiron.cli.output import columns
from andiron.cli.selections import partitions_as_json
from andiron.cli.times import show_duration, show_time
from andiron.client.core.transaction_descriptions import (
    NEVER_STARTED,
    NO_EPOCH,
    NO_TRANSACTION,
    ActiveProducer,
    OpenTransaction,
    TransactionDescription,
)
from andiron.model.ids import TopicPartition

PRODUCERS = (
    "TOPIC",
    "PARTITION",
    "PRODUCER",
    "EPOCH",
    "SEQUENCE",
    "LAST WRITE",
    "OPEN FROM",
    "COORDINATOR EPOCH",
)
HANGING = ("TOPIC", "PARTITION", "START OFFSET", "PRODUCER", "EPOCH", "LAST WRITE", "IDLE FOR")


def description_as_text(told: TransactionDescription, now_ms: int) -> str:
    """A transactional id's state in one line, and its partitions."""
    facts = [told.state, f"producer {told.producer_id} epoch {told.producer_epoch}"]
    facts += [f"coordinator {told.coordinator.id} ({told.coordinator.address})"]
    allowed = show_duration(told.timeout_ms)
    if told.is_open and told.started_at != NEVER_STARTED:
        facts += [f"open for {show_duration(max(0, now_ms - told.started_at))} of {allowed} that it may take"]
    else:
        facts += [f"timeout {allowed}"]
        if told.started_at != NEVER_STARTED:
            facts += [f"last begun {show_time(told.started_at)}"]
    parts = [f"{told.transactional_id}: {', '.join(facts)}"]
    if told.partitions:
        parts.append(columns(("TOPIC", "PARTITION"), told.partitions))
    return "\n\n".join(parts)


def description_as_json(told: TransactionDescription) -> dict[str, Any]:
    """A transactional id's description as JSON; what is not known is null."""
    broker = told.coordinator
    return {
        "transactional_id": told.transactional_id,
        "state": told.state,
        "coordinator": {"id": broker.id, "host": broker.address.host, "port": broker.address.port},
        "producer_id": told.producer_id,
        "producer_epoch": told.producer_epoch,
        "timeout_ms": told.timeout_ms,
        "started_at": None if told.started_at == NEVER_STARTED else told.started_at,
        "partitions": partitions_as_json(told.partitions),
    }


def producers_as_text(producers: Mapping[TopicPartition, Iterable[ActiveProducer]]) -> str:
    """A row for each producer of each partition."""
    return columns(
        PRODUCERS,
        [
            (
                *partition,
                each.producer_id,
                each.epoch,
                each.last_sequence,
                show_time(each.last_timestamp) or None,
                each.start_offset if each.has_open_transaction else None,
                None if each.coordinator_epoch == NO_EPOCH else each.coordinator_epoch,
            )
            for partition, active in sorted(producers.items())
            for each in active
        ],
    )


def producer_as_json(partition: TopicPartition, producer: ActiveProducer) -> dict[str, Any]:
    """One producer of one partition; what there is none of is null."""
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        "last_sequence": producer.last_sequence,
        "last_timestamp": producer.last_timestamp,
        "coordinator_epoch": None if producer.coordinator_epoch == NO_EPOCH else producer.coordinator_epoch,
        "start_offset": None if producer.start_offset == NO_TRANSACTION else producer.start_offset,
    }


def hanging_as_text(found: Iterable[OpenTransaction], now_ms: int) -> str:
    """Hanging transactions, a row each."""
    return columns(
        HANGING,
        [
            (
                *partition,
                producer.start_offset,
                producer.producer_id,
                producer.epoch,
                show_time(producer.last_timestamp) or None,
                show_duration(max(0, now_ms - producer.last_timestamp)),
            )
            for partition, producer in found
        ],
    )
