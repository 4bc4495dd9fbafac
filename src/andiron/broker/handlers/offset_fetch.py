"""OffsetFetch (key 9), versions 1-10: the committed offsets of groups.

Up to version 7 a request is about one group, from 8 on about several (KIP-709), each with an answer of its own. Both
come down to the same question, asked once for each group; about many partitions, for some hundred of them at a time. So
the answer may name a topic more than once, each time with other partitions.

That a coordinator is not available is not among the errors that clients know here; they are sent to look for it.

Read next: groups/offsets/fetches.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each, each_by_weight, in_slices
from andiron.broker.node.waiting import Wait
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
ENTRIES_MAX, GROUPS_MAX = 110_000, 20_000
PIECE = 500  # partitions of a group that are asked for at once


class Piece(NamedTuple):
    """Of what a group is asked for."""

    group: OffsetFetchRequestGroup
    goes_on: bool  # with the group of the piece before


def handle(broker: Broker, request: Request[OffsetFetchRequest]) -> InSlices[Wait]:
    body = request.body
    if len(body.groups) > GROUPS_MAX:
        raise ErrorCode.INVALID_REQUEST.error(f"it asks for {len(body.groups)} groups, not {GROUPS_MAX}")
    if request.version >= SEVERAL_SINCE:
        pieces, answers = yield from _ask_all(broker, request, body.groups)
        return answers.and_then(partial(_together, pieces))
    topics = None if body.topics is None else (yield from each(body.topics, _newer))
    group = OffsetFetchRequestGroup(body.group_id, topics=topics)
    pieces, answers = yield from _ask_all(broker, request, [group])
    return answers.and_then(partial(_alone, request.version, group, pieces))


def _ask_all(
    broker: Broker, request: Request[OffsetFetchRequest], groups: list[OffsetFetchRequestGroup]
) -> InSlices[tuple[list[Piece], Wait]]:
    pieces: list[Piece] = []
    for group in groups:
        pieces += _pieces(group) if len(group.topics or ()) < PIECE else (yield from _in_pieces(group))
    answers = yield from each(pieces, partial(_ask, broker, request), SIZES.fetched_offset_pieces)
    return pieces, Wait.all(answers)


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


def _joined(pieces: list[Piece], answers: list[Any]) -> InSlices[list[OffsetFetchResponseGroup]]:
    """The answers to pieces, as one for each group; an error of one piece is the group's. A coordinator answers in
    slices where it is asked for all of a group that has much."""
    groups: list[OffsetFetchResponseGroup] = []
    for piece, answered in zip(pieces, answers, strict=True):
        answer: OffsetFetchResponseGroup = (yield from answered) if in_slices(answered) else answered
        if not piece.goes_on:
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


def _together(pieces: list[Piece], answers: list[Any]) -> InSlices[OffsetFetchResponse]:
    return OffsetFetchResponse(groups=(yield from _joined(pieces, answers)))


def _alone(
    version: int, asked: OffsetFetchRequestGroup, pieces: list[Piece], answers: list[Any]
) -> InSlices[OffsetFetchResponse]:
    """The answer about one group, as older versions have it; the oldest has no place for an error but with
    each partition."""
    (group,) = yield from _joined(pieces, answers)
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
        topics=(yield from each_by_weight(topics, _older, lambda topic: 1 + len(topic.partitions))),
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
