"""A client of one cluster: its metadata, a connection to each broker that is asked, and retries with backoff.

    caller ──▶ call_any          any broker         metadata, cluster-wide questions
               call_broker       that one           its log directories, its settings
               call_controller   the controller     topics and settings are changed there
               ask_leaders       each its own       offsets, records

What fails for a passing reason is tried again after a pause, with fresh metadata where it went to the
wrong broker, until `default.api.timeout.ms` is over; then the last reason is raised. What is refused is
raised at once. Before any broker has answered there is nothing to be patient about: a first connection
that fails is an error by itself, unless one waits for it (`reach`).

Read next: ../core/metadata.py, then producer.py and reader.py; coordinators.py for groups and transactions;
broker_survey.py for questions to many brokers, of which some may be down.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, TypeVar

from andiron.client.blocking.connections import Connections
from andiron.client.connection import Connection
from andiron.client.core.addresses import Address, parse_addresses
from andiron.client.core.backoff import Backoff
from andiron.client.core.metadata import ClusterMetadata, Topic
from andiron.client.settings import ClientSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError, Retriable, StaleMetadata
from andiron.model.ids import TopicPartition
from andiron.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

R = TypeVar("R")

ALL_TOPICS = None
CREATION_MS_MAX = 5_000  # UNKNOWN_TOPIC_OR_PARTITION is also the answer while a topic is being created
_NS_PER_MS = 1_000_000


class Client:
    """The cluster that `bootstrap` (host:port, several with commas) leads to."""

    def __init__(self, bootstrap: str, settings: ClientSettings | None = None) -> None:
        self.settings = settings or ClientSettings()
        self.bootstrap = parse_addresses(bootstrap)
        self.metadata = ClusterMetadata()
        self.chance = Chance(secrets.randbits(128))
        self._connections = Connections(self.settings)
        self.on_retry: Callable[[ProtocolError], None] = lambda error: None  # for each error that is retried
        self._stale = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up on every broker."""
        self._connections.close()

    # ── requests ─────────────────────────────────────────────────────────────────────

    def call_any(self, request: Any, response: type[R], check: Callable[[R], None] | None = None) -> R:
        """Ask whichever broker can be reached; `check` raises what the answer says went wrong."""
        return self._call(self._any_connection, request, response, check)

    def call_broker(
        self, node_id: int, request: Any, response: type[R], check: Callable[[R], None] | None = None
    ) -> R:
        """Send a request to one broker."""
        return self._call(lambda: self.connection(node_id), request, response, check)

    def call_controller(self, request: Any, response: type[R], check: Callable[[R], None] | None = None) -> R:
        """Send a request to the broker that metadata names as the controller."""
        return self._call(self._controller_connection, request, response, check)

    def ask_leaders(
        self,
        partitions: Iterable[TopicPartition],
        ask: Callable[[Connection, list[TopicPartition]], Mapping[TopicPartition, R | ProtocolError]],
    ) -> dict[TopicPartition, R]:
        """Have `ask` send its request to the leaders of these partitions, again for those with a retriable error."""
        answers: dict[TopicPartition, R] = {}
        left = dict.fromkeys(partitions)

        def attempt() -> None:
            problem: ProtocolError | None = None
            for node_id, group in self.by_leader(left).items():
                for partition, answer in ask(self.connection(node_id), group).items():
                    if not isinstance(answer, ProtocolError):
                        answers[partition] = answer
                        del left[partition]
                    elif problem is None or not isinstance(answer, Retriable):
                        problem = answer
            if problem is None and left:
                problem = ErrorCode.UNKNOWN_SERVER_ERROR.error(f"nothing was said of {next(iter(left))}")
            if problem is not None:
                raise problem

        if left:
            self.retry(attempt)
        return answers

    def by_leader(self, partitions: Iterable[TopicPartition]) -> dict[int, list[TopicPartition]]:
        """These partitions by the broker that leads them."""
        groups: dict[int, list[TopicPartition]] = {}
        for partition in partitions:
            self.topic(partition.topic)
            groups.setdefault(self.metadata.leader(partition), []).append(partition)
        return groups

    def connection(self, node_id: int) -> Connection:
        """The connection to a broker for requests that do not wait, unlike fetches."""
        return self._connections.to(self.address(node_id))

    def address(self, node_id: int) -> Address:
        """The address of a broker."""
        if self._stale:
            self.refresh(list(self.metadata.topics))
        if node_id not in self.metadata.brokers:
            raise ErrorCode.BROKER_NOT_AVAILABLE.error(f"there is no broker {node_id} in the cluster")
        return self.metadata.brokers[node_id].address

    # ── metadata ─────────────────────────────────────────────────────────────────────

    def topic(self, name: str, *, create: bool = False) -> Topic:
        """A topic's metadata, asked for if it is not known; `create` lets brokers create it, if they do that at all."""
        if self._stale or name not in self.metadata.topics:
            self.retry(lambda: self._find_topic(name, create), CREATION_MS_MAX if create else None)
        return self.metadata.topic(name)

    def topics(self) -> list[Topic]:
        """All topics, by name."""
        self.retry(lambda: self.refresh(ALL_TOPICS))
        return sorted(self.metadata.topics.values())

    def refresh(self, topics: list[str] | None, *, create: bool = False) -> None:
        """Ask any broker for the metadata of these topics, or all."""
        asked = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(asked, allow_auto_topic_creation=create)
        answer = self._any_connection().call(request, MetadataResponse)
        if answer.error_code:
            raise ErrorCode.of(answer.error_code).error()
        self.metadata.update(answer, topics if topics is not None else list(self.metadata.topics))
        self._stale = False

    def mark_stale(self) -> None:
        """The metadata has proved wrong: refresh it before it is used next."""
        self._stale = True

    # ── retries ──────────────────────────────────────────────────────────────────────

    def retry(
        self, attempt: Callable[[], R], timeout_ms: int | None = None, bearing: ErrorCode | None = None
    ) -> R:
        """Call `attempt`, again while it fails with a retriable error, or one in `bearing`, until the time is up."""
        allowed = self.settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        deadline = time.monotonic_ns() + allowed * _NS_PER_MS
        backoff = self.backoff()
        while True:
            try:
                return attempt()
            except ProtocolError as error:
                if not isinstance(error, Retriable) and error.code is not bearing:
                    raise
                pause_ms = backoff.next_ms()
                if time.monotonic_ns() + pause_ms * _NS_PER_MS > deadline:
                    raise
                if isinstance(error, StaleMetadata):
                    self.mark_stale()
                self.on_retry(error)
            time.sleep(pause_ms / 1000)

    def reach(self) -> None:
        """Wait until a first broker can be reached, for a cluster that is known to exist and may be restarting."""
        if not self.metadata.brokers:
            self.retry(lambda: self.refresh([]), bearing=ErrorCode.BROKER_NOT_AVAILABLE)

    def backoff(self) -> Backoff:
        """The pauses between attempts, as the settings have them."""
        return Backoff(self.settings.retry_backoff_ms, self.settings.retry_backoff_max_ms, self.chance)

    def _call(
        self,
        connect: Callable[[], Connection],
        request: Any,
        response: type[R],
        check: Callable[[R], None] | None,
    ) -> R:
        def attempt() -> R:
            answer = connect().call(request, response)
            if check is not None:
                check(answer)
            return answer

        return self.retry(attempt)

    def _find_topic(self, name: str, create: bool) -> None:
        known = list(self.metadata.topics) if self._stale else []
        self.refresh(list(dict.fromkeys([name, *known])), create=create)
        code = self.metadata.errors.get(name)
        if create and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise code.error(f"{name!r} is not there and was not created")  # but may be being created
        topic = self.metadata.topic(name)
        if create and not topic.writable():
            raise ErrorCode.LEADER_NOT_AVAILABLE.error(f"{name} has no leader at the moment")

    def _controller_connection(self) -> Connection:
        if self._stale:
            self.refresh(list(self.metadata.topics))
        if self.metadata.controller_id not in self.metadata.brokers:
            raise ErrorCode.NOT_CONTROLLER.error("the cluster has no controller at the moment")
        return self.connection(self.metadata.controller_id)

    def _any_connection(self) -> Connection:
        """A connection that is open already, or the first that can be made."""
        known = [broker.address for broker in self.metadata.brokers.values()]
        candidates = list(dict.fromkeys([*known, *self.bootstrap]))
        candidates.sort(key=lambda address: not self._connections.has(address))
        problems = []
        for address in candidates:
            try:
                return self._connections.to(address)
            except ProtocolError as error:
                problems.append(error)
        if known:
            raise problems[0]
        raise ErrorCode.BROKER_NOT_AVAILABLE.error("; ".join(each.detail for each in problems))
