"""Errors in responses as exceptions, and partitions grouped by topic as messages group them.

An error comes as a number and sometimes a sentence. Here it becomes the exception of that number, and its
line begins with what was asked about, since an answer may speak of many things.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, TypeVar

from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import TopicPartition

T = TypeVar("T")
Answers: TypeAlias = dict[TopicPartition, T | ProtocolError]


def error_in(number: int, message: str | None, subject: object) -> ProtocolError | None:
    """The exception for an error code and message of a response about `subject`; None where there is no error."""
    code = ErrorCode.of(number)
    if code is ErrorCode.NONE:
        return None
    return code.error(f"{subject}: {message or code.meaning}")


def check_error(number: int, message: str | None, subject: object) -> None:
    """Raise the error of a response about `subject`, if there is one."""
    if number == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number:
        # UNKNOWN_TOPIC_OR_PARTITION of the controller is final: retrying would not help.
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {subject}")
    if (error := error_in(number, message, subject)) is not None:
        raise error


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[TopicPartition]]]:
    """The partitions of each topic, as messages list them."""
    groups: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        groups.setdefault(partition.topic, []).append(partition)
    return list(groups.items())
