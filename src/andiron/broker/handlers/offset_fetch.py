"""OffsetFetch (key 9), versions 1-10: how far groups have read.

Up to version 7 a request is about one group, from 8 on about several, each with an answer of its own. Both
come down to the same question, asked once for each group; about many partitions, for some hundred of them at a time. So
the answer may name a topic more than once, each time with other partitions.

That a coordinator is not available is not among the errors that clients know here; they are sent to look for it.

Read next: groups/offsets/fetches.py.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.slices import InSlices, each
from andiron.broker.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

API = ApiKey.OFFSET_FETCH
SERVED = ADVERTISED = (1, 10)

SEVERAL_SINCE = 8
ERROR_AT_TOP_SINCE = 2
NO_OFFSET = -1
ENTRIES_MAX = 150_000
SLICE, PIECE = 10, 500  # pieces, and partitions of one


class Piece(NamedTuple):
    """Of what a group is asked for."""

    group: OffsetFetchRequestGroup
    goes_on: bool  # with the group of the piece before


def handle(broker: Broker, request: Request[OffsetFetchRequest]) -> InSlices[Wait]:
    body = request.body
    if request.version >= SEVERAL_SINCE:
        answers = yield from _ask_all(broker, request, body.groups)
        return answers.and_then(lambda groups: OffsetFetchResponse(groups=groups))
    topics = None if body.topics is None else (yield from each(body.topics, _newer))
    group = OffsetFetchRequestGroup(body.group_id, topics=topics)
    answers = yield from _ask_all(broker, request, [group])
    return answers.and_then(lambda groups: _alone(request.version, group, groups[0]))


def _ask_all(
    broker: Broker, request: Request[OffsetFetchRequest], groups: list[OffsetFetchRequestGroup]
) -> InSlices[Wait]:
    pieces: list[Piece] = []
    for group in groups:
        pieces += _pieces(group) if len(group.topics or ()) < PIECE else (yield from _in_pieces(group))
    answers = yield from each(pieces, partial(_ask, broker, request), SLICE)
    return Wait.all(answers).and_then(partial(_joined, [piece.goes_on for piece in pieces]))


def _in_pieces(group: OffsetFetchRequestGroup) -> InSlices[list[Piece]]:
    pieces: list[Piece] = []
    for start in range(0, len(group.topics or ()), PIECE):
        some = (group.topics or [])[start : start + PIECE]
        part = OffsetFetchRequestGroup(group.group_id, group.member_id, group.member_epoch, some)
        pieces += _pieces(part, goes_on=start > 0)
        yield
    return pieces


def _pieces(group: OffsetFetchRequestGroup, goes_on: bool = False) -> list[Piece]:
    """Not too many partitions at a time: a coordinator answers a piece in one go."""
    if not group.topics or sum(len(topic.partition_indexes) for topic in group.topics) <= PIECE:
        return [Piece(group, goes_on)]
    pieces: list[Piece] = []
    for topic in group.topics:
        for start in range(0, max(1, len(topic.partition_indexes)), PIECE):
            indexes = topic.partition_indexes[start : start + PIECE]
            some = [OffsetFetchRequestTopics(topic.name, topic.topic_id, indexes)]
            part = OffsetFetchRequestGroup(group.group_id, group.member_id, group.member_epoch, some)
            pieces.append(Piece(part, goes_on or bool(pieces)))
    return pieces


def _joined(go_on: list[bool], answers: list[OffsetFetchResponseGroup]) -> list[OffsetFetchResponseGroup]:
    """The answers to pieces, as one for each group; an error of one piece is the group's."""
    groups: list[OffsetFetchResponseGroup] = []
    for goes_on, answer in zip(go_on, answers, strict=True):
        if not goes_on:
            groups.append(answer)
        elif answer.error_code:
            groups[-1] = answer
        elif not groups[-1].error_code:
            groups[-1].topics += answer.topics
    return groups


def _ask(
    broker: Broker, request: Request[OffsetFetchRequest], piece: Piece
) -> OffsetFetchResponseGroup | Wait:
    asked = OffsetFetchRequest(groups=[piece.group], require_stable=request.body.require_stable)
    fetched = broker.groups.run(piece.group.group_id, request, asked).or_else(partial(_refusal, piece.group))
    answer: OffsetFetchResponseGroup | Wait = fetched.settled()
    return answer


def _refusal(group: OffsetFetchRequestGroup, error: ProtocolError) -> OffsetFetchResponseGroup:
    unknown_here = error.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    code = ErrorCode.NOT_COORDINATOR if unknown_here else error.code
    return OffsetFetchResponseGroup(group.group_id, error_code=code.number)


def _alone(
    version: int, asked: OffsetFetchRequestGroup, group: OffsetFetchResponseGroup
) -> InSlices[OffsetFetchResponse]:
    """The answer about one group, as older versions have it; the oldest has no place for an error but with
    each partition."""
    topics = group.topics
    if group.error_code and version < ERROR_AT_TOP_SINCE:
        topics = [
            OffsetFetchResponseTopics(
                topic.name,
                partitions=[
                    OffsetFetchResponsePartitions(index, NO_OFFSET, metadata="", error_code=group.error_code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in asked.topics or []
        ]
    return OffsetFetchResponse(
        topics=(yield from each(topics, _older)),
        error_code=group.error_code if version >= ERROR_AT_TOP_SINCE else ErrorCode.NONE.number,
    )


def _newer(topic: OffsetFetchRequestTopic) -> OffsetFetchRequestTopics:
    return OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes)


def _older(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        topic.name,
        [
            OffsetFetchResponsePartition(
                partition.partition_index,
                partition.committed_offset,
                partition.committed_leader_epoch,
                partition.metadata,
                partition.error_code,
            )
            for partition in topic.partitions
        ],
    )
