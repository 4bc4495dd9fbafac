"""Metrics that clients push: who is asked for what, and what they have told (KIP-714).

    GetTelemetrySubscriptions ─▶ the subscriptions that mean this client ─▶ which metrics, how often
    PushTelemetry             ─▶ checked, unpacked, read (wire/otlp.py)  ─▶ the newest value of each series

Clients are asked for totals and not for differences, so that a push that is lost does no harm. What they told last is
shown with the node's own metrics (edge/metrics/clients.py) until it is three intervals old, or they leave.

Clients are not trusted to be few, or to tell little: the room is for so many clients and so many series, and the
longest silent make way.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.request import Request
from andiron.broker.telemetry.client_metrics import ALL, ClientMetricsConfigs, means, subscription
from andiron.controller.image import CLIENT_METRICS
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, decompress
from andiron.wire.messages.push_telemetry import PushTelemetryRequest
from andiron.wire.otlp import Point, points

CODECS = (ZSTD, LZ4, GZIP, SNAPPY)  # the best first
CLIENTS_MAX = 2_000
SERIES_MAX = 20_000  # of all clients
SERIES_OF_ONE_MAX = 500
LONGEST_LABEL = 200  # characters
SILENT_INTERVALS = 3  # after which a client is forgotten

NOBODY = bytes(16)
NEVER_YET = Millis(-1)
Software = tuple[str, str]  # its name and version
Series = tuple[str, str]  # the name of the metric, and its attributes as they are shown


@dataclass(slots=True, eq=False)
class Client:
    """One instance of a client, and what it told last."""

    id: bytes
    name: str
    software: Software
    subscription_id: int = 0
    interval_ms: int = 0
    metrics: tuple[str, ...] = ()
    asked_at: Millis = NEVER_YET
    pushed_at: Millis = NEVER_YET
    terminating: bool = False
    series: dict[Series, Point] = field(default_factory=dict)

    def is_silent(self, now: Millis) -> bool:
        return now - max(self.asked_at, self.pushed_at) > SILENT_INTERVALS * self.interval_ms


class ClientTelemetry:
    """All clients that asked, or told."""

    def __init__(self, metadata: MetadataLoader, max_bytes: int, chance: Chance) -> None:
        self._metadata, self.max_bytes, self._chance = metadata, max_bytes, chance
        self._software: dict[int, Software] = {}  # by connection
        self._clients: dict[bytes, Client] = {}  # the longest silent first
        self._series = 0
        self.pushes = self.refused = self.dropped = 0  # the last: values for which there was no room

    def introduced(self, conn: int, software: Software) -> None:
        """A client has said what it is."""
        self._software[conn] = software

    def disconnected(self, conn: int) -> None:
        self._software.pop(conn, None)

    def clients(self, now: Millis) -> Iterator[Client]:
        """Those that have told something lately."""
        self._forget_silent(now)
        return (client for client in self._clients.values() if client.series)

    # ── asking ───────────────────────────────────────────────────────────────────────

    def subscribe(self, id: bytes, request: Request[Any]) -> Client:
        """A client asks what it is to push."""
        id = id if id != NOBODY else self._chance.uuid()
        client, now = self._client(id, request), request.now
        if client.asked_at >= 0 and now - max(client.asked_at, client.pushed_at) < client.interval_ms:
            metrics, interval_ms = self._wanted(client, request)
            if (metrics, interval_ms) == (client.metrics, client.interval_ms):
                raise ErrorCode.THROTTLING_QUOTA_EXCEEDED.error("the client has asked before its time")
        self._refresh(client, request)
        client.asked_at = now
        return client

    def _client(self, id: bytes, request: Request[Any]) -> Client:
        client = self._clients.pop(id, None)
        if client is None:
            self._forget_silent(request.now)
            if len(self._clients) >= CLIENTS_MAX:
                self._forget(next(iter(self._clients)))
            name = (request.client_id or "")[:LONGEST_LABEL]
            client = Client(id, name, self._software.get(request.conn, ("", "")))
        self._clients[id] = client
        return client

    def _refresh(self, client: Client, request: Request[Any]) -> None:
        client.metrics, client.interval_ms = self._wanted(client, request)
        told = f"{client.metrics}{client.interval_ms}{client.id.hex()}".encode()
        client.subscription_id = crc32(told) - (1 << 31)

    def _wanted(self, client: Client, request: Request[Any]) -> tuple[tuple[str, ...], int]:
        """Which metrics all subscriptions together want of a client, and how often."""
        name, version = client.software
        about = {
            "client_instance_id": shown_id(client.id),
            "client_id": client.name,
            "client_software_name": name,
            "client_software_version": version,
            "client_source_address": request.host,
        }
        meant = [each for each in self._subscriptions() if means(each, about)]
        metrics = dict.fromkeys(metric for each in meant for metric in each.metrics)
        interval_ms = min((each.interval_ms for each in meant), default=ClientMetricsConfigs().interval_ms)
        return ((ALL,) if ALL in metrics else tuple(sorted(metrics))), interval_ms

    def _subscriptions(self) -> list[ClientMetricsConfigs]:
        configs: Mapping[tuple[int, str], Mapping[str, str]] = self._metadata.image.configs
        return [subscription(given) for (kind, _), given in configs.items() if kind == CLIENT_METRICS]

    # ── telling ──────────────────────────────────────────────────────────────────────

    def push(self, body: PushTelemetryRequest, request: Request[Any]) -> None:
        """A client tells its metrics."""
        try:
            self._push(body, request)
        except Exception:
            self.refused += 1
            raise
        self.pushes += 1

    def _push(self, body: PushTelemetryRequest, request: Request[Any]) -> None:
        if body.client_instance_id == NOBODY:
            raise ErrorCode.INVALID_REQUEST.error("a client without an id cannot push metrics")
        is_new = body.client_instance_id not in self._clients
        client, now = self._client(body.client_instance_id, request), request.now
        if is_new:
            self._refresh(client, request)  # it may have asked another broker
        self._check(client, body, now)
        client.pushed_at, client.terminating = now, body.terminating
        data: bytes | memoryview = body.metrics
        if body.compression_type != NONE:
            data = decompress(body.compression_type, data, self.max_bytes)
        self._take(client, data)

    def _check(self, client: Client, body: PushTelemetryRequest, now: Millis) -> None:
        if client.terminating:
            raise ErrorCode.INVALID_REQUEST.error("the client has said that it would push nothing more")
        is_early = client.pushed_at >= client.asked_at and now - client.pushed_at < client.interval_ms
        if is_early and not body.terminating:
            raise ErrorCode.THROTTLING_QUOTA_EXCEEDED.error("the client has pushed before its time")
        if body.subscription_id != client.subscription_id:
            raise ErrorCode.UNKNOWN_SUBSCRIPTION_ID.error("the subscriptions have changed")
        if body.compression_type not in (NONE, *CODECS):
            raise ErrorCode.UNSUPPORTED_COMPRESSION_TYPE.error(f"there is no codec {body.compression_type}")
        if len(body.metrics) > self.max_bytes:
            raise ErrorCode.TELEMETRY_TOO_LARGE.error(f"{len(body.metrics)} bytes, not {self.max_bytes}")

    def _take(self, client: Client, data: bytes | memoryview) -> None:
        told: dict[Series, Point] = {}
        for point in points(data):
            if not any(metric == ALL or point.metric.startswith(metric) for metric in client.metrics):
                continue
            attributes = ",".join(f"{key}={value}" for key, value in point.attributes)
            series = point.metric[:LONGEST_LABEL], attributes[:LONGEST_LABEL]
            if len(told) < SERIES_OF_ONE_MAX or series in told:
                told[series] = point
            else:
                self.dropped += 1
        self._series += len(told) - len(client.series)
        client.series = told
        while self._series > SERIES_MAX:
            self._forget(next(id for id, each in self._clients.items() if each.series))

    # ── forgetting ───────────────────────────────────────────────────────────────────

    def _forget_silent(self, now: Millis) -> None:
        for id in [id for id, client in self._clients.items() if client.is_silent(now)]:
            self._forget(id)

    def _forget(self, id: bytes) -> None:
        self._series -= len(self._clients.pop(id).series)


def shown_id(id: bytes) -> str:
    """An id as Kafka's clients show it."""
    return urlsafe_b64encode(id).decode().rstrip("=")
