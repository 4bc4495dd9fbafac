"""Kafka's settings that a node does not have, and what becomes of a file that gives them.

Every `server.properties` in the world carries some of these. Most can be ignored without harm: the file is
accepted, a notice says so once, and the setting is not listed anywhere, since it has no effect. Some promise
protection; to ignore those would be to break the promise, so they are refused. Whatever else is unknown is a
mistake, most likely in typing.

A name that ends in "." stands for all names that begin with it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from andiron.model.settings import SettingError

WITHOUT_EFFECT = {
    "one loop serves all connections, so there are no threads to count": (
        "num.network.threads",
        "num.io.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "num.replica.alter.log.dirs.threads",
        "background.threads",
        "log.cleaner.threads",
        "queued.max.requests",
    ),
    "share and streams groups are not served": ("share.", "group.share.", "group.streams."),
    "coordinators run in the loop, write each change at once and load in small pieces": (
        "group.coordinator.",
        "group.consumer.assignment.interval.ms",
        "group.consumer.assignor.offload.enable",
        "group.consumer.min.assignment.interval.ms",
        "group.consumer.max.assignment.interval.ms",
        "offsets.load.buffer.size",
        "offsets.topic.compression.codec",
        "transaction.state.log.load.buffer.size",
        "add.partitions.to.txn.",
    ),
    "what it would change is done in another way between the nodes of a cluster": (
        "replica.socket.receive.buffer.bytes",
        "leader.imbalance.per.broker.percentage",
        "controller.quorum.append.linger.ms",
        "controller.quorum.auto.join.enable",
        "controller.quorum.fetch.max.bytes",
        "metadata.max.idle.interval.ms",
        "controller.socket.timeout.ms",
        "controller.performance.",
        "request.timeout.ms",
        "socket.connection.setup.",
        "follower.fetch.last.tiered.offset.enable",
    ),
    "the quota of replication has one window, of a second": (
        "replication.quota.",
        "alter.log.dirs.replication.quota.",
    ),
    "no listener uses TLS or SASL": (
        "ssl.",
        "sasl.",
        "security.providers",
        "principal.builder.class",
        "connection.failed.authentication.delay.ms",
        "connections.max.reauth.ms",
        "delegation.token.",
    ),
    "there is no tiered storage": ("remote.", "log.local.retention."),
    "there are no quotas": (
        "quota.window.",
        "controller.quota.",
        "max.connection.creation.rate",
        "max.connections.per.ip.overrides",
    ),
    "metrics are published in another way": (
        "metric.reporters",
        "metrics.",
        "kafka.metrics.",
        "telemetry.max.bytes",
        "controller.performance.",
    ),
    "a request that waits leaves the waiting room when it is answered": (
        "fetch.purgatory.",
        "producer.purgatory.",
        "delete.records.purgatory.",
    ),
    "it tunes a part of Kafka that is built differently here": (
        "log.preallocate",
        "log.cleaner.io.buffer.size",
        "log.dir.failure.timeout.ms",
        "log.initial.task.delay.ms",
        "metadata.log.segment.min.bytes",
        "internal.metadata.",
        "producer.id.expiration.check.interval.ms",
        "max.request.partition.size.limit",
        "server.max.startup.time.ms",
        "unstable.",
    ),
}

REFUSED = {
    "there is no authorizer, and every client would be let in": (
        "authorizer.class.name",
        "super.users",
        "allow.everyone.if.no.acl.found",
    ),
    "Java classes cannot be loaded": (
        "alter.config.policy.class.name",
        "create.topic.policy.class.name",
        "client.quota.callback.class",
        "config.providers",
    ),
    "a listener has no settings of its own": ("listener.name.",),
    "listeners are opened together, and log directories take partitions at all times": (
        "early.start.listeners",
        "cordoned.log.dirs",
    ),
    "there is no ZooKeeper; the metadata is the controller's (process.roles)": ("zookeeper.",),
}


def why_without_effect(name: str) -> str | None:
    """Why a setting of Kafka's does nothing here; None if it is not such a one."""
    return _reason(name, WITHOUT_EFFECT)


def why_refused(name: str) -> str | None:
    """Why a setting of Kafka's may not be given here; None if it is not such a one."""
    return _reason(name, REFUSED)


def unknown(name: str, known: Iterable[str]) -> SettingError:
    """The complaint about a name that nobody knows, with the known one it is most like."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return SettingError(
        name, f"there is no such setting; did you mean {close[0]}?" if close else "no such setting"
    )


def notices(names: Iterable[str]) -> list[str]:
    """One line for each reason, naming the settings given in vain."""
    by_reason: dict[str, list[str]] = {}
    for name in names:
        reason = why_without_effect(name)
        if reason is not None:
            by_reason.setdefault(reason, []).append(name)
    return [f"without effect: {', '.join(given)} ({reason})" for reason, given in by_reason.items()]


def _reason(name: str, table: dict[str, tuple[str, ...]]) -> str | None:
    for reason, names in table.items():
        if any(name == each or (each.endswith(".") and name.startswith(each)) for each in names):
            return reason
    return None
