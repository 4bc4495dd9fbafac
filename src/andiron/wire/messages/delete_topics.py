"""DeleteTopics (key 20), versions 1-6.

Version 4 is flexible, 5 adds the error's message, 6 names topics by name or by id.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct, uuid


@struct
class DeleteTopicState:
    name: str | None = string(nullable=True, default=None)
    topic_id: bytes = uuid()


@message(api_key=20, versions=(1, 6), flexible=4)
class DeleteTopicsRequest:
    topics: list[DeleteTopicState] = array(DeleteTopicState, since=6)
    topic_names: list[str] = array(string(), until=5)
    timeout_ms: int = i32()


@struct
class DeletableTopicResult:
    name: str | None = string(nullable=6)
    topic_id: bytes = uuid(since=6)
    error_code: int = i16()
    error_message: str | None = string(since=5, nullable=5, default=None)


@message(api_key=20, versions=(1, 6), flexible=4)
class DeleteTopicsResponse:
    throttle_time_ms: int = i32()
    responses: list[DeletableTopicResult] = array(DeletableTopicResult)
