"""partition.metadata: the id of the topic that a partition's folder belongs to.

    version: 0
    topic_id: r8mTnWNlQjynYkVR7Y8jcA

A topic that is deleted and made again has the same folder names but another id, so an old folder
can be told from a new one. It is synced together with the first records, so that ten thousand
partitions can be made without ten thousand fsyncs: a log found without it, or with half of it, was
never flushed, or comes from before there were ids.

A node by itself takes such a log for its topic's: nobody can have deleted that while the node was away. Where there are
others they can, and make another of its name; there a log that was never flushed is nobody's (`adopts`).
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

from andiron.log.disk import Disk, File
from andiron.log.layout import LOG, PARTITION_METADATA, LayoutError
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID, TopicId

_SURE = 8  # bytes: ids that share so many are one id, the rest of which did not reach the disk
_FLIPPED_MAX = 16  # bits: so few apart are no two ids, which differ in about 64, but one that was damaged


def encode(topic_id: TopicId) -> bytes:
    """The contents of the file."""
    return f"version: 0\ntopic_id: {id_text(topic_id)}".encode()


def decode(data: bytes) -> TopicId:
    """The topic's id out of the file; LayoutError if there is none in it."""
    split = (line.partition(":") for line in data.decode("utf-8", "replace").split("\n"))
    pairs = {name.strip(): value.strip() for name, _, value in split}
    if pairs.get("version") != "0":
        raise LayoutError(f"{PARTITION_METADATA} has version {pairs.get('version')}, not 0")
    return parse_id(pairs.get("topic_id", ""))


def settle(
    disk: Disk,
    directory: str,
    topic_id: TopicId,
    sizes: Mapping[str, int],
    notices: list[str],
    *,
    adopts: bool = True,
) -> list[File]:
    """See that the folder belongs to our topic; write the file if there is none. Returns what is to be synced."""
    path = f"{directory}/{PARTITION_METADATA}"
    if PARTITION_METADATA in sizes:
        try:
            there = decode(disk.read_file(path))
        except LayoutError as error:
            _check_adoption(directory, sizes, adopts)
            notices.append(f"{path} is written anew: {error}")
        else:
            if there == topic_id:
                # A process that was killed may not have synced it, nor one that stopped before anything was written.
                return [] if adopts else [_closed(disk.open(path))]
            if not _is_same(there, topic_id):
                raise ErrorCode.INCONSISTENT_TOPIC_ID.error(
                    f"{directory} belongs to topic id {id_text(there)}, not {id_text(topic_id)}"
                )
            notices.append(
                f"{path} is written anew: {id_text(there)} is our id, damaged by a crash or its disk"
            )
    else:
        _check_adoption(directory, sizes, adopts)
    file = disk.open(path)
    file.truncate(0)
    file.append(encode(topic_id))
    return [_closed(file)]


def _is_same(there: TopicId, ours: TopicId) -> bool:
    flipped = int.from_bytes(there, "big") ^ int.from_bytes(ours, "big")
    return there[:_SURE] == ours[:_SURE] or flipped.bit_count() <= _FLIPPED_MAX


def _closed(file: File) -> File:
    file.close()
    return file


def _check_adoption(directory: str, sizes: Mapping[str, int], adopts: bool) -> None:
    if not adopts and any(size for name, size in sizes.items() if name.endswith(LOG)):
        raise ErrorCode.INCONSISTENT_TOPIC_ID.error(f"{directory} does not say which topic it belongs to")


def id_text(raw: bytes) -> str:
    """An id as Kafka writes it: base64 for URLs, unpadded, 22 characters."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def parse_id(text: str) -> TopicId:
    """The id that 22 characters stand for."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"==")
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != len(NO_TOPIC_ID) or id_text(raw) != text:
        raise LayoutError(f"{text!r} is not an id")
    return TopicId(raw)
