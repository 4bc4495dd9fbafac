"""Checkpoints: small text files that say how far something had come.

    0                       the version
    2                       how many lines follow
    orders 0 1045           topic, partition, offset
    orders 1 1013

One file per log directory for each question:

    recovery-point-offset-checkpoint    everything below is on the disk: a start after a crash scans from here
    log-start-offset-checkpoint         where a log begins, if that is not at 0
    replication-offset-checkpoint       the high watermark
    cleaner-offset-checkpoint           up to where compaction has cleaned

The law: each of them is a hint that saves work. A start without one is slower or more careful, never
wrong, so a file that cannot be read is a notice and not an end. leader-epoch-checkpoint (leader_epochs.py)
has the same form with other lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from andiron.log.disk import Disk
from andiron.model.errors import AndironError
from andiron.model.ids import Offset, TopicPartition

RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
WATERMARKS: Final = "replication-offset-checkpoint"
CLEANED_UPTO: Final = "cleaner-offset-checkpoint"

VERSION: Final = "0"


class CheckpointError(AndironError):
    """A checkpoint file that does not say what it should."""


class LogCheckpoint(NamedTuple):
    """What was written down of one log before it is opened; of a new log, nothing."""

    recovery_point: Offset = Offset(0)
    log_start: Offset = Offset(0)
    clean: bool = False  # the stop before was a clean one: nothing has to be scanned


def encode_lines(lines: Iterable[str]) -> bytes:
    """A checkpoint file of these lines."""
    body = list(lines)
    return "\n".join((VERSION, str(len(body)), *body, "")).encode()


def decode_lines(data: bytes, fields: int) -> list[list[str]]:
    """The lines of a checkpoint file, each split into its `fields`; a file just made is empty, and has none."""
    if not data:
        return []
    version, count, *lines = [*data.decode("utf-8", "replace").splitlines(), "", ""]
    if version.strip() != VERSION:
        raise CheckpointError(f"version {version!r}, not {VERSION}")
    rows = [line.split() for line in lines if line.strip()]
    if count.strip() != str(len(rows)):
        raise CheckpointError(f"{count!r} lines announced, {len(rows)} there")
    for row in rows:
        if len(row) != fields:
            raise CheckpointError(f"{' '.join(row)!r} does not have {fields} fields")
    return rows


def whole_number(text: str) -> int:
    """A number of a checkpoint, which is never negative."""
    if not (text.isascii() and text.isdigit()):
        raise CheckpointError(f"{text!r} is not a whole number")
    return int(text)


def encode_offsets(offsets: Mapping[TopicPartition, Offset]) -> bytes:
    """A file of offsets by partition."""
    return encode_lines(f"{topic} {number} {offset}" for (topic, number), offset in offsets.items())


def decode_offsets(data: bytes) -> dict[TopicPartition, Offset]:
    """Offsets by partition; CheckpointError if the file is not one of them."""
    return {
        TopicPartition(topic, whole_number(number)): Offset(whole_number(offset))
        for topic, number, offset in decode_lines(data, 3)
    }


def load_offsets(disk: Disk, path: str, notices: list[str]) -> dict[TopicPartition, Offset]:
    """The offsets of a file; one that is missing holds none, nor does one that is broken, with a notice."""
    try:
        return decode_offsets(disk.read_file(path))
    except FileNotFoundError:
        return {}
    except CheckpointError as error:
        notices.append(f"{path} is taken as absent: {error}")
        return {}


def save_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, Offset]) -> None:
    """Replace a file, durably."""
    disk.write_file(path, encode_offsets(offsets))
