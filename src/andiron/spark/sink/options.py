"""The options of a write, under the names that Spark's own Kafka sink has, and those that are ours.

    .option("kafka.bootstrap.servers", "localhost:9092")    where the cluster is
    .option("topic", "orders")                              for all rows; goes before a column `topic`
    .option("kafka.compression.type", "zstd")               and every other setting of a producer
    .option("delivery.guarantee", "at_least_once")          ours: exactly_once, unless said otherwise
    .option("sink.id", "audit")                             ours: which sink of its query this is, where it has several
    .option("group.id", "enricher")                         ours: the source's offsets, committed with the rows
    .option("failOnDataLoss", "false")                      ours: go on where a decided part was aborted by its timeout

Exactly once needs acks=all and idempotence, and transactional ids of our own. What contradicts that is refused, and so
is what Spark's own sink refuses, before a query starts and in one line.

Read next: spark_writers.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.settings import MAX_INT, MINUTE, SettingError, rows
from andiron.spark.kafka_options import PREFIX, bootstrap_of, kafka_settings, parse_kafka, refuse_security

EXACTLY_ONCE, AT_LEAST_ONCE = "exactly_once", "at_least_once"
GUARANTEE = "delivery.guarantee"
TIMEOUT = "transaction.timeout.ms"
TWO_PHASE = "transaction.two.phase.commit.enable"
CHECKPOINT = "checkpointlocation"
TIMEOUT_MS = 15 * MINUTE  # the longest that a broker allows unless it is told otherwise
NO_NEED = ("linger.ms", "security.protocol")  # whole batches come at once; refuse_security has looked

_NOT_HERE = {
    "key.serializer": "keys are written as the bytes they are; convert them by DataFrame functions such as cast",
    "value.serializer": "values are written as the bytes they are; convert them by DataFrame functions such as cast",
    "transactional.id": "the sink has transactional ids of its own, for each of its tasks; sink.id tells sinks apart",
}


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """All that writers need to know; made in the driver, and pickled to the tasks."""

    bootstrap: str
    client: ClientSettings
    producer: ProducerSettings
    topic: str | None
    guarantee: str | None  # None: not said
    sink_id: str
    group: str | None
    checkpoint: str | None
    timeout_ms: int
    two_phase: bool
    fail_on_data_loss: bool
    warnings: tuple[str, ...]

    @property
    def exactly_once(self) -> bool:
        return self.guarantee != AT_LEAST_ONCE


def parse_sink_options(given: Mapping[str, str], *, streaming: bool) -> SinkOptions:
    """The options of a stream's sink or of a batch write; SettingError says what is wrong with them."""
    told = {name.lower(): value for name, value in given.items()}
    bootstrap = bootstrap_of(told)
    settings = kafka_settings(told)
    for name, why in _NOT_HERE.items():
        if name in settings:
            raise SettingError(PREFIX + name, f"not supported: {why}")
    refuse_security(settings)
    timeout_ms = _milliseconds(settings.pop(TIMEOUT, str(TIMEOUT_MS)))
    two_phase = _flag(PREFIX + TWO_PHASE, settings.pop(TWO_PHASE, "true"))
    client, producer = rows(ClientSettings), rows(ProducerSettings)
    options = SinkOptions(
        bootstrap=bootstrap,
        client=parse_kafka(
            ClientSettings, {name: value for name, value in settings.items() if name in client}
        ),
        producer=parse_kafka(
            ProducerSettings, {name: value for name, value in settings.items() if name in producer}
        ),
        topic=_topic(told),
        guarantee=_guarantee(told),
        sink_id=_sink_id(told),
        group=told.get("group.id", "").strip() or None,
        checkpoint=told.get(CHECKPOINT),
        timeout_ms=timeout_ms,
        two_phase=two_phase,
        fail_on_data_loss=_flag("failOnDataLoss", told.get("failondataloss", "true")),
        warnings=tuple(
            f"{PREFIX}{name} has no effect on this sink"
            for name in sorted(settings)
            if name not in client and name not in producer and name not in NO_NEED
        ),
    )
    _check(options, streaming)
    return options


def _check(options: SinkOptions, streaming: bool) -> None:
    if options.exactly_once and not options.producer.idempotent:
        raise SettingError(
            f"{PREFIX}acks",
            f"exactly once needs acks=all and enable.idempotence=true; say {GUARANTEE}={AT_LEAST_ONCE} to do without",
        )
    if options.group is None:
        return
    if not streaming and not options.sink_id:
        raise SettingError(
            "group.id",
            "a batch write has no source whose offsets could be committed with it; in foreachBatch, say sink.id too",
        )
    if not options.exactly_once:
        raise SettingError("group.id", f"with {AT_LEAST_ONCE} there is no transaction; say it to the source")
    if options.checkpoint is None:
        raise SettingError(
            "group.id",
            "needs the source's offsets: say the checkpointLocation of the query as an option here",
        )


def _topic(told: Mapping[str, str]) -> str | None:
    topic = told.get("topic")
    if topic is not None and not topic.strip():
        raise SettingError("topic", "empty; expected the name of a topic")
    return topic.strip() if topic is not None else None


def _guarantee(told: Mapping[str, str]) -> str | None:
    text = told.get(GUARANTEE, "").strip().lower()
    if text and text not in (EXACTLY_ONCE, AT_LEAST_ONCE):
        raise SettingError(GUARANTEE, f"{text!r} is neither {EXACTLY_ONCE} nor {AT_LEAST_ONCE}")
    return text or None


def _sink_id(told: Mapping[str, str]) -> str:
    text = told.get("sink.id", "").strip()
    if text and not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise SettingError("sink.id", f"{text!r}; expected letters, digits, dots, dashes and underscores")
    return text


def _milliseconds(text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= MAX_INT):
        raise SettingError(PREFIX + TIMEOUT, f"{text!r} is not a number of milliseconds of at least 1")
    return int(digits)


def _flag(name: str, text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise SettingError(name, f"{text!r} is neither true nor false")
    return text.strip().lower() == "true"
