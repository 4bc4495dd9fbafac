"""How answers are read: what a broker said went wrong, and partitions grouped as messages group them.

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
    """What a broker said went wrong with `subject`, in one line; None where nothing did."""
    code = ErrorCode.of(number)
    if code is ErrorCode.NONE:
        return None
    return code.error(f"{subject}: {message or code.meaning}")


def check_error(number: int, message: str | None, subject: object) -> None:
    """Raise what went wrong with `subject`, if anything."""
    if number == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number:
        # Said by the controller of a name that was typed: asking it again would not help.
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {subject}")
    if (error := error_in(number, message, subject)) is not None:
        raise error


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[TopicPartition]]]:
    """The partitions of each topic, as messages list them."""
    groups: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        groups.setdefault(partition.topic, []).append(partition)
    return list(groups.items())
