"""Kafka's settings that have no effect here: each with its type, default and bounds, and the reason.

Every `server.properties` in the world carries some of these, and Kafka's tools list them all. So they are rows
like others: they may be given, are checked, and are shown by DescribeConfigs; and whoever gives one a value that
is not its default is told, in the log and in docs/settings.md, that it changes nothing.

Some promise what then would not be there: that clients are asked who they are, that a policy is kept, that
records are kept elsewhere. To take those and do nothing would be to break the promise, so they may have their
default alone.

A setting that comes to be honoured moves from here to the table of its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from andiron.model.settings import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    MAX_INT,
    MAX_LONG,
    PASSWORD,
    SHORT,
    STRING,
    Reload,
    Row,
    Type,
)

LIVE: Reload = "live"


def inert(name: str, type: Type, default: Any, **bounds: Any) -> Row:
    """A row without its reason, which is that of the group it stands in."""
    return Row(name, type, default, "", **bounds)


WITHOUT_EFFECT = {
    "one loop handles all requests, so there are no threads to count": (
        inert("background.threads", INT, 10, least=1, reload=LIVE),
        inert("log.cleaner.threads", INT, 1, least=0, reload=LIVE),
        inert("num.io.threads", INT, 8, least=1, reload=LIVE),
        inert("num.recovery.threads.per.data.dir", INT, 2, least=1, reload=LIVE),
        inert("num.replica.alter.log.dirs.threads", INT, None),
        inert("num.replica.fetchers", INT, 1, least=1, reload=LIVE),
        inert("queued.max.requests", INT, 500, least=1),
    ),
    "what it would change is done in another way between the nodes of a cluster": (
        inert("controller.performance.always.log.threshold.ms", LONG, 2000, least=0, internal=True),
        inert("controller.performance.sample.period.ms", LONG, 60000, least=100, internal=True),
        inert("controller.quorum.append.linger.ms", INT, 25, least=0),
        inert("controller.quorum.auto.join.enable", BOOLEAN, False),
        inert("controller.quorum.fetch.max.bytes", INT, 1048576, least=1),
        inert("controller.socket.timeout.ms", INT, 30000),
        inert("follower.fetch.last.tiered.offset.enable", BOOLEAN, False, reload=LIVE),
        inert("metadata.max.idle.interval.ms", INT, 500, least=0),
        inert("replica.socket.receive.buffer.bytes", INT, 65536),
        inert("request.timeout.ms", INT, 30000),
        inert("socket.connection.setup.timeout.max.ms", LONG, 30000),
        inert("socket.connection.setup.timeout.ms", LONG, 10000),
    ),
    "coordinators run in the loop, write each change at once and load in small pieces": (
        inert("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, least=0),
        inert("add.partitions.to.txn.retry.backoff.ms", INT, 20, least=1),
        inert("group.consumer.assignment.interval.ms", INT, 1000, least=0, reload=LIVE),
        inert("group.consumer.max.assignment.interval.ms", INT, 15000, least=0),
        inert("group.consumer.min.assignment.interval.ms", INT, 0, least=0),
        inert("group.coordinator.append.linger.ms", INT, -1, least=-1),
        inert("group.coordinator.background.threads", INT, 2, least=1),
        inert("group.coordinator.cached.buffer.max.bytes", INT, 1048588, least=524288, reload=LIVE),
        inert(
            "group.coordinator.rebalance.protocols",
            LIST,
            ("classic", "consumer", "streams"),
            choices=("consumer", "classic", "share", "streams"),
        ),
        inert("group.coordinator.threads", INT, 4, least=1),
        inert("offsets.load.buffer.size", INT, 5242880, least=1),
        inert("offsets.topic.compression.codec", INT, 0),
        inert("transaction.state.log.load.buffer.size", INT, 5242880, least=1),
    ),
    "share and streams groups are not served": (
        inert("group.share.assignment.interval.ms", INT, 1000, least=0, reload=LIVE),
        inert("group.share.assignors", LIST, ("simple",)),
        inert("group.share.delivery.count.limit", INT, 5, least=2, most=10),
        inert("group.share.heartbeat.interval.ms", INT, 5000, least=1),
        inert("group.share.initialize.retry.interval.ms", INT, 30000, least=1, internal=True),
        inert("group.share.max.assignment.interval.ms", INT, 15000, least=0),
        inert("group.share.max.delivery.count.limit", INT, 10, least=5, most=25),
        inert("group.share.max.heartbeat.interval.ms", INT, 15000, least=1),
        inert("group.share.max.partition.max.record.locks", INT, 4000, least=2000, most=10000),
        inert("group.share.max.record.lock.duration.ms", INT, 60000, least=30000, most=3600000),
        inert("group.share.max.session.timeout.ms", INT, 60000, least=1),
        inert("group.share.max.share.sessions", INT, 2000, least=1),
        inert("group.share.max.size", INT, 200, least=1, most=1000),
        inert("group.share.min.assignment.interval.ms", INT, 0, least=0),
        inert("group.share.min.delivery.count.limit", INT, 2, least=2, most=5),
        inert("group.share.min.heartbeat.interval.ms", INT, 5000, least=1),
        inert("group.share.min.partition.max.record.locks", INT, 100, least=100, most=2000),
        inert("group.share.min.record.lock.duration.ms", INT, 15000, least=1000, most=30000),
        inert("group.share.min.session.timeout.ms", INT, 45000, least=1),
        inert("group.share.partition.max.record.locks", INT, 2000, least=100, most=10000),
        inert(
            "group.share.persister.class.name",
            STRING,
            "org.apache.kafka.server.share.persister.DefaultStatePersister",
            internal=True,
        ),
        inert("group.share.record.lock.duration.ms", INT, 30000, least=1000, most=3600000),
        inert("group.share.session.timeout.ms", INT, 45000, least=1),
        inert("group.streams.assignment.interval.ms", INT, 1000, least=0, reload=LIVE),
        inert("group.streams.heartbeat.interval.ms", INT, 5000, least=1),
        inert("group.streams.initial.rebalance.delay.ms", INT, 3000, least=0),
        inert("group.streams.max.assignment.interval.ms", INT, 15000, least=0),
        inert("group.streams.max.heartbeat.interval.ms", INT, 15000, least=1),
        inert("group.streams.max.session.timeout.ms", INT, 60000, least=1),
        inert("group.streams.max.size", INT, MAX_INT, least=1),
        inert("group.streams.max.standby.replicas", INT, 2, least=0),
        inert("group.streams.min.assignment.interval.ms", INT, 0, least=0),
        inert("group.streams.min.heartbeat.interval.ms", INT, 5000, least=1),
        inert("group.streams.min.session.timeout.ms", INT, 45000, least=1),
        inert("group.streams.num.standby.replicas", INT, 0, least=0),
        inert("group.streams.session.timeout.ms", INT, 45000, least=1),
        inert("share.coordinator.append.linger.ms", INT, -1, least=-1),
        inert("share.coordinator.cached.buffer.max.bytes", INT, 1048588, least=524288, reload=LIVE),
        inert("share.coordinator.cold.partition.snapshot.interval.ms", INT, 300000, least=1, internal=True),
        inert("share.coordinator.load.buffer.size", INT, 5242880, least=1),
        inert("share.coordinator.snapshot.update.records.per.snapshot", INT, 500, least=0, most=500),
        inert("share.coordinator.state.topic.compression.codec", INT, 0),
        inert("share.coordinator.state.topic.min.isr", SHORT, 2, least=1),
        inert("share.coordinator.state.topic.num.partitions", INT, 50, least=1),
        inert("share.coordinator.state.topic.prune.interval.ms", INT, 300000, least=1, internal=True),
        inert("share.coordinator.state.topic.replication.factor", SHORT, 3, least=1),
        inert("share.coordinator.state.topic.segment.bytes", INT, 104857600, least=1),
        inert("share.coordinator.threads", INT, 1, least=1),
        inert("share.coordinator.write.timeout.ms", INT, 5000, least=1),
        inert("share.fetch.purgatory.purge.interval.requests", INT, 1000),
    ),
    "it tunes a part of Kafka that is built differently here": (
        inert("internal.metadata.delete.delay.millis", LONG, 60000, internal=True),
        inert("internal.metadata.log.segment.bytes", INT, None, internal=True),
        inert("internal.metadata.max.batch.size.in.bytes", INT, 8388608, internal=True),
        inert("log.cleaner.io.buffer.size", INT, 524288, least=0, reload=LIVE),
        inert("log.dir.failure.timeout.ms", LONG, 30000, least=1),
        inert("log.initial.task.delay.ms", LONG, 30000, least=0, internal=True),
        inert("max.request.partition.size.limit", INT, 2000, least=1),
        inert("producer.id.expiration.check.interval.ms", INT, 600000, least=1, internal=True),
        inert("server.max.startup.time.ms", LONG, MAX_LONG, least=0, internal=True),
        inert("unclean.leader.election.interval.ms", LONG, 300000, least=1, internal=True),
        inert("unstable.api.versions.enable", BOOLEAN, False, internal=True),
        inert("unstable.feature.versions.enable", BOOLEAN, False, internal=True),
    ),
    "there are no quotas": (
        inert("controller.quota.window.num", INT, 11, least=1),
        inert("controller.quota.window.size.seconds", INT, 1, least=1),
        inert("max.connection.creation.rate", INT, MAX_INT, least=0, reload=LIVE),
        inert("max.connections.per.ip.overrides", STRING, "", reload=LIVE),
        inert("quota.window.num", INT, 11, least=1),
        inert("quota.window.size.seconds", INT, 1, least=1),
    ),
    "metrics are published in another way": (
        inert("kafka.metrics.polling.interval.secs", INT, 10, least=1),
        inert("kafka.metrics.reporters", LIST, ()),
        inert("metric.reporters", LIST, ("org.apache.kafka.common.metrics.JmxReporter",), reload=LIVE),
        inert("metrics.num.samples", INT, 2, least=1),
        inert("metrics.recording.level", STRING, "INFO"),
        inert("metrics.sample.window.ms", LONG, 30000, least=1),
    ),
    "no listener uses TLS or SASL": (
        inert("connection.failed.authentication.delay.ms", INT, 100, least=0),
        inert("connections.max.reauth.ms", LONG, 0),
        inert("delegation.token.expiry.check.interval.ms", LONG, 3600000, least=1),
        inert("delegation.token.expiry.time.ms", LONG, 86400000, least=1),
        inert("delegation.token.max.lifetime.ms", LONG, 604800000, least=1),
        inert("delegation.token.secret.key", PASSWORD, None),
        inert(
            "principal.builder.class",
            CLASS,
            "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
            reload=LIVE,
        ),
        inert("sasl.client.callback.handler.class", CLASS, None),
        inert("sasl.jaas.config", PASSWORD, None, reload=LIVE),
        inert("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", reload=LIVE),
        inert("sasl.kerberos.min.time.before.relogin", LONG, 60000, reload=LIVE),
        inert("sasl.kerberos.principal.to.local.rules", LIST, ("DEFAULT",), reload=LIVE),
        inert("sasl.kerberos.service.name", STRING, None, reload=LIVE),
        inert("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, reload=LIVE),
        inert("sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, reload=LIVE),
        inert("sasl.login.callback.handler.class", CLASS, None),
        inert("sasl.login.class", CLASS, None),
        inert("sasl.login.connect.timeout.ms", INT, None),
        inert("sasl.login.read.timeout.ms", INT, None),
        inert("sasl.login.refresh.buffer.seconds", SHORT, 300, reload=LIVE),
        inert("sasl.login.refresh.min.period.seconds", SHORT, 60, reload=LIVE),
        inert("sasl.login.refresh.window.factor", DOUBLE, 0.8, reload=LIVE),
        inert("sasl.login.refresh.window.jitter", DOUBLE, 0.05, reload=LIVE),
        inert("sasl.login.retry.backoff.max.ms", LONG, 10000),
        inert("sasl.login.retry.backoff.ms", LONG, 100),
        inert("sasl.mechanism.controller.protocol", STRING, "GSSAPI"),
        inert("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", reload=LIVE),
        inert("sasl.oauthbearer.assertion.algorithm", STRING, "RS256"),
        inert("sasl.oauthbearer.assertion.claim.aud", STRING, None),
        inert("sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, least=0, most=86400),
        inert("sasl.oauthbearer.assertion.claim.iss", STRING, None),
        inert("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False),
        inert("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, least=0, most=3600),
        inert("sasl.oauthbearer.assertion.claim.sub", STRING, None),
        inert("sasl.oauthbearer.assertion.file", STRING, None),
        inert("sasl.oauthbearer.assertion.private.key.file", STRING, None),
        inert("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None),
        inert("sasl.oauthbearer.assertion.template.file", STRING, None),
        inert("sasl.oauthbearer.client.credentials.client.id", STRING, None),
        inert("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None),
        inert("sasl.oauthbearer.clock.skew.seconds", INT, 30),
        inert("sasl.oauthbearer.expected.audience", LIST, ()),
        inert("sasl.oauthbearer.expected.issuer", STRING, None),
        inert("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, 3600000),
        inert("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, 10000),
        inert("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, 100),
        inert("sasl.oauthbearer.jwks.endpoint.url", STRING, None),
        inert(
            "sasl.oauthbearer.jwt.retriever.class",
            CLASS,
            "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        ),
        inert(
            "sasl.oauthbearer.jwt.validator.class",
            CLASS,
            "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        ),
        inert("sasl.oauthbearer.scope", STRING, None),
        inert("sasl.oauthbearer.scope.claim.name", STRING, "scope"),
        inert("sasl.oauthbearer.sub.claim.name", STRING, "sub"),
        inert("sasl.oauthbearer.token.endpoint.url", STRING, None),
        inert("sasl.server.callback.handler.class", CLASS, None),
        inert("sasl.server.max.receive.size", INT, 524288),
        inert("security.providers", STRING, None),
        inert("ssl.allow.dn.changes", BOOLEAN, False),
        inert("ssl.allow.san.changes", BOOLEAN, False),
        inert("ssl.cipher.suites", LIST, (), reload=LIVE),
        inert("ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), reload=LIVE),
        inert("ssl.endpoint.identification.algorithm", STRING, "https", reload=LIVE),
        inert("ssl.engine.factory.class", CLASS, None, reload=LIVE),
        inert("ssl.key.password", PASSWORD, None, reload=LIVE),
        inert("ssl.keymanager.algorithm", STRING, "SunX509", reload=LIVE),
        inert("ssl.keystore.certificate.chain", PASSWORD, None, reload=LIVE),
        inert("ssl.keystore.key", PASSWORD, None, reload=LIVE),
        inert("ssl.keystore.location", STRING, None, reload=LIVE),
        inert("ssl.keystore.password", PASSWORD, None, reload=LIVE),
        inert("ssl.keystore.type", STRING, "JKS", reload=LIVE),
        inert("ssl.principal.mapping.rules", STRING, "DEFAULT"),
        inert("ssl.protocol", STRING, "TLSv1.3", reload=LIVE),
        inert("ssl.provider", STRING, None, reload=LIVE),
        inert("ssl.secure.random.implementation", STRING, None, reload=LIVE),
        inert("ssl.trustmanager.algorithm", STRING, "PKIX", reload=LIVE),
        inert("ssl.truststore.certificates", PASSWORD, None, reload=LIVE),
        inert("ssl.truststore.location", STRING, None, reload=LIVE),
        inert("ssl.truststore.password", PASSWORD, None, reload=LIVE),
        inert("ssl.truststore.type", STRING, "JKS", reload=LIVE),
    ),
    "there is no tiered storage": (
        inert("remote.fetch.max.wait.ms", INT, 500, least=1, reload=LIVE),
        inert("remote.list.offsets.request.timeout.ms", LONG, 30000, least=1, reload=LIVE),
        inert("remote.log.index.file.cache.total.size.bytes", LONG, 1073741824, least=1, reload=LIVE),
        inert("remote.log.index.file.cache.ttl.ms", LONG, 900000, least=-1, internal=True),
        inert("remote.log.manager.copier.thread.pool.size", INT, 10, least=1, reload=LIVE),
        inert("remote.log.manager.copy.max.bytes.per.second", LONG, MAX_LONG, least=1, reload=LIVE),
        inert("remote.log.manager.copy.quota.window.num", INT, 11, least=1),
        inert("remote.log.manager.copy.quota.window.size.seconds", INT, 1, least=1),
        inert("remote.log.manager.expiration.thread.pool.size", INT, 10, least=1, reload=LIVE),
        inert("remote.log.manager.fetch.max.bytes.per.second", LONG, MAX_LONG, least=1, reload=LIVE),
        inert("remote.log.manager.fetch.quota.window.num", INT, 11, least=1),
        inert("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, least=1),
        inert("remote.log.manager.follower.thread.pool.size", INT, 2, least=1, reload=LIVE),
        inert("remote.log.manager.task.interval.ms", LONG, 30000, least=1),
        inert("remote.log.manager.task.retry.backoff.max.ms", LONG, 30000, least=1, internal=True),
        inert("remote.log.manager.task.retry.backoff.ms", LONG, 500, least=1, internal=True),
        inert("remote.log.manager.task.retry.jitter", DOUBLE, 0.2, least=0, most=0.5, internal=True),
        inert("remote.log.manager.thread.pool.size", INT, 2, least=1),
        inert("remote.log.metadata.custom.metadata.max.bytes", INT, 128, least=0),
        inert(
            "remote.log.metadata.manager.class.name",
            STRING,
            "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        ),
        inert("remote.log.metadata.manager.class.path", STRING, None),
        inert("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config."),
        inert("remote.log.metadata.manager.listener.name", STRING, None),
        inert("remote.log.reader.max.pending.tasks", INT, 100, least=1),
        inert("remote.log.reader.threads", INT, 10, least=1, reload=LIVE),
        inert("remote.log.storage.manager.class.name", STRING, None),
        inert("remote.log.storage.manager.class.path", STRING, None),
        inert("remote.log.storage.manager.impl.prefix", STRING, "rsm.config."),
    ),
    "the quota of replication has one window, of a second": (
        inert("alter.log.dirs.replication.quota.window.num", INT, 11, least=1),
        inert("alter.log.dirs.replication.quota.window.size.seconds", INT, 1, least=1),
        inert("replication.quota.window.num", INT, 11, least=1),
        inert("replication.quota.window.size.seconds", INT, 1, least=1),
    ),
    "a request that waits leaves the waiting room when it is answered": (
        inert("delete.records.purgatory.purge.interval.requests", INT, 1),
        inert("fetch.purgatory.purge.interval.requests", INT, 1000),
        inert("producer.purgatory.purge.interval.requests", INT, 1000),
    ),
}

# They promise something: a value that is not the default is refused.
REFUSED = {
    "there is no authorizer, and every client would be let in": (inert("authorizer.class.name", STRING, ""),),
    "Java classes cannot be loaded": (
        inert("alter.config.policy.class.name", CLASS, None),
        inert("client.quota.callback.class", CLASS, None),
        inert("config.providers", LIST, (), reload=LIVE),
        inert("create.topic.policy.class.name", CLASS, None),
    ),
    "no listener asks clients who they are, so that everyone would be let in": (
        inert("sasl.enabled.mechanisms", LIST, ("GSSAPI",), reload=LIVE),
        inert("ssl.client.auth", STRING, "none", choices=("required", "requested", "none"), reload=LIVE),
    ),
    "listeners are opened together": (inert("early.start.listeners", LIST, None),),
    "log directories take partitions at all times": (inert("cordoned.log.dirs", LIST, (), reload=LIVE),),
    "there is no tiered storage, and records would not be where they are looked for": (
        inert("remote.log.storage.system.enable", BOOLEAN, False),
    ),
}


def inert_rows() -> dict[str, Row]:
    """All of them by their names, each with its reason."""
    rows = [
        replace(row, doc=f"Without effect: {reason}.", inert=reason) for reason, row in _each(WITHOUT_EFFECT)
    ]
    rows += [
        replace(row, doc=f"Its default alone is taken: {reason}.", inert=reason, check=_guard(row, reason))
        for reason, row in _each(REFUSED)
    ]
    return {row.name: row for row in rows}


def _each(groups: Mapping[str, tuple[Row, ...]]) -> list[tuple[str, Row]]:
    return [(reason, row) for reason, rows in groups.items() for row in rows]


def _guard(row: Row, reason: str) -> Callable[[Any], str | None]:
    """The complaint about anything but the default, which may also be given as nothing at all."""
    harmless = (row.default, "", ())
    return lambda value: None if value in harmless else f"not supported: {reason}"
