"""FindCoordinator: each group and each transactional id has a coordinator, and any broker knows which.

    FindCoordinator(group or transactional id) ──▶ any broker ──▶ that broker's id ──▶ the request

A coordinator is the leader of one partition of `__consumer_offsets` or `__transaction_state`, and moves with
it. Nobody tells: a broker that is asked for what it does not coordinate says NOT_COORDINATOR, and is then
forgotten and looked for again. While a new one reads its log it says so, and is asked again a little later.
Where the topic is only just being made there is no coordinator for a moment.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, TypeVar

from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.core.answer_errors import check_error
from andiron.client.core.metadata import Broker
from andiron.model.errors import ErrorCode, StaleMetadata
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

R = TypeVar("R")


class CoordinatorType(enum.IntEnum):
    """FindCoordinator's key types, with Kafka's numbers."""

    GROUP = 0
    TRANSACTION = 1


class Coordinators:
    """A cache of the coordinators of groups, or of transactional ids, as far as they were looked up."""

    def __init__(self, client: Client, kind: CoordinatorType) -> None:
        self._client = client
        self._kind = kind
        self._known: dict[str, int] = {}

    def find(self, key: str) -> Broker:
        """The broker that coordinates a group or a transactional id."""
        node_id = self._client.retry(lambda: self._node_id(key))
        return self._client.metadata.brokers[node_id]

    def call(
        self,
        key: str,
        request: Any,
        response: type[R],
        check: Callable[[R], None] | None = None,
        at_most: int | None = None,
    ) -> R:
        """Send a request to the coordinator of `key`, with retries; `check` raises the error in the response."""

        def attempt() -> R:
            try:
                answer = self.connection(key).call(request, response, at_most)
                if check is not None:
                    check(answer)
            except StaleMetadata:
                self._known.pop(key, None)
                raise
            return answer

        return self._client.retry(attempt)

    def connection(self, key: str) -> Connection:
        """The connection to the coordinator, to ask which API versions it has."""
        return self._client.connection(self._node_id(key))

    def _node_id(self, key: str) -> int:
        node_id = self._known.get(key)
        if node_id is None or node_id not in self._client.metadata.brokers:
            node_id = self._known[key] = self._look_up(key)
        return node_id

    def _look_up(self, key: str) -> int:
        request = FindCoordinatorRequest(key, self._kind, [key])
        answer = self._client.call_any(request, FindCoordinatorResponse, self._check(key))
        node_id = answer.coordinators[0].node_id if answer.coordinators else answer.node_id
        if node_id not in self._client.metadata.brokers:
            self._client.refresh(list(self._client.metadata.topics))
        if node_id not in self._client.metadata.brokers:
            raise ErrorCode.COORDINATOR_NOT_AVAILABLE.error(
                f"{self._named(key)} is kept by broker {node_id}, which is not in the cluster at the moment"
            )
        return node_id

    def _check(self, key: str) -> Callable[[FindCoordinatorResponse], None]:
        def check(answer: FindCoordinatorResponse) -> None:
            told = answer.coordinators[0] if answer.coordinators else answer
            check_error(told.error_code, told.error_message, self._named(key))

        return check

    def _named(self, key: str) -> str:
        return f"{'group' if self._kind is CoordinatorType.GROUP else 'transactional id'} {key!r}"
