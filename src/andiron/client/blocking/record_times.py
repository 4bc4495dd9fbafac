"""Timestamps of the records at some offsets, by fetching one batch of each partition.

    fetch(offset, at most 1 byte) ──▶ leader ──▶ the whole batch that holds the offset

A broker answers a fetch that is too small for anything with the first batch all the same, but only for the
first partition of the request. So each partition has a request of its own, a few of them on their way at a
time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.core.answer_errors import Answers
from andiron.client.core.lag import written_at
from andiron.client.core.positions import FetchedBatches, Position, fetch_request, fetched_batches
from andiron.client.settings import ReaderSettings
from andiron.model.errors import ProtocolError, Retriable
from andiron.model.ids import TopicPartition
from andiron.wire.messages.fetch import FetchResponse

IN_FLIGHT_MAX = 5
_ONE_BATCH = ReaderSettings(fetch_max_bytes=1, max_partition_fetch_bytes=1)


def times_of_records(
    client: Client, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | None]:
    """The timestamp of the first record at or after each offset; None where there is none."""

    def ask(leader: Connection, asked: list[TopicPartition]) -> Answers[int | None]:
        answers: Answers[int | None] = {}
        on_the_way: deque[Position] = deque()

        def receive() -> None:
            response = leader.receive(FetchResponse)
            position = on_the_way.popleft()
            answers[position.partition] = _time_in(response, position, client)

        for each in asked:
            if len(on_the_way) == IN_FLIGHT_MAX:
                receive()
            on_the_way.append(Position(each, offsets[each]))
            request, at_most = fetch_request([on_the_way[-1]], client.metadata, _ONE_BATCH, max_wait_ms=0)
            leader.send(request, at_most)
        while on_the_way:
            receive()
        return answers

    return client.ask_leaders(offsets, ask)


def _time_in(response: FetchResponse, position: Position, client: Client) -> int | ProtocolError | None:
    """The timestamp in a fetch response. Nothing is raised here: other responses are on their way."""
    try:
        for came in fetched_batches(response, {position.partition: position}, client.metadata.topics):
            if isinstance(came, Retriable):
                return came
            if isinstance(came, FetchedBatches) and came.batches:
                return written_at(came.batches[0], position.offset)
    except ProtocolError:
        return None  # a batch that cannot be read has no time to tell
    return None
