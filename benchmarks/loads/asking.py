"""Requests of the coordinators as frames, and their answers read: for raw loads and for those who watch a group.

`peers/frames.py` writes the few requests of the data path by hand; these are more, and the codec knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from andiron.wire.codec import decoder, encoder
from andiron.wire.frame import frame
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from servers import Raw

R = TypeVar("R")
CLIENT = "raw"
COMMIT_VERSION = 9  # what librdkafka speaks
GROUP, TRANSACTION = 0, 1  # what a coordinator is looked for
OFFSET = 42


def framed(request: Any, version: int) -> bytes:
    """A whole request, size included."""
    parts: list[Any] = [encode_request_header(request.__api_key__, version, 0, CLIENT)]
    encoder(type(request), version)(request, parts)
    return b"".join(cast(list[bytes], frame(parts)))


def read(answer: bytes, response: type[R], version: int) -> R:
    """An answer, from its correlation id on."""
    key = cast(Any, response).__api_key__
    _, at = decode_response_header(answer, 0, len(answer), key, version)
    return decoder(response, version)(answer, at, len(answer))[0]


def ask(link: Raw, request: Any, response: type[R], version: int) -> R:
    return read(link.ask(framed(request, version)), response, version)


def find_coordinator(link: Raw, key: str, key_type: int) -> int:
    """The error code of the answer; asking makes the topic in which the coordinator keeps its state."""
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    return ask(link, request, FindCoordinatorResponse, 4).coordinators[0].error_code


def commit(group: str, topic: str, partitions: Iterable[int], offset: int = OFFSET) -> bytes:
    """A commit by nobody's member, as a consumer that assigns its partitions itself sends it."""
    places = [OffsetCommitRequestPartition(number, offset, -1, "") for number in partitions]
    topics = [OffsetCommitRequestTopic(name=topic, partitions=places)]
    request = OffsetCommitRequest(group_id=group, member_id="", topics=topics)
    return framed(request, COMMIT_VERSION)


def commit_errors(answer: bytes) -> set[int]:
    """The error codes of a commit's answer, none if all went well."""
    found = read(answer, OffsetCommitResponse, COMMIT_VERSION)
    return {place.error_code for topic in found.topics for place in topic.partitions} - {0}
