"""What is asked of every client: write, read, and administer; an adapter overrides what its library offers.

Errors are told alike: `Refused` carries Kafka's number for what went wrong, whatever the library calls it.
Each call opens and closes its own connection, which is slow for a program and right for a test: nothing that
one test did to a client is left for the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ISOLATION = {True: "read_committed", False: "read_uncommitted"}
LATEST, EARLIEST, MAX_TIMESTAMP = "latest", "earliest", "max_timestamp"
PATIENCE_S = 60.0


class Refused(Exception):
    """The broker, or the client in its stead, said no: `code` is the number in Kafka's error table."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Record:
    """One record, as written (timestamp and offset may be left to others) or as read (all known)."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a client says of the cluster; a library that does not tell the id leaves it out."""

    brokers: frozenset[int]
    controller: int
    id: str | None = None


class Client:
    """One library; every method but `close` is optional."""

    name = "client"
    codecs: tuple[str, ...] = CODECS  # what it can write and read here

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    @classmethod
    def writable(cls, records: Sequence[Record]) -> list[Record]:
        """The records in the shape this client can write them; most can write them all."""
        return list(records)

    def write(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        partition: int = 0,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool | None = None,
    ) -> list[int]:
        """Write in order; return the offsets, -1 where the client was not told.

        Idempotence of None is the library's own default.
        """
        raise NotImplementedError

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        """Everything from offset `start` to `end`, exclusive; an offset outside the log is refused."""
        raise NotImplementedError

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        """Everything there is to read now, under read_committed or read_uncommitted."""
        raise NotImplementedError

    def stable_offset(self, topic: str, partition: int) -> int:
        """The latest offset under read_committed: the first of the oldest open transaction, if there is one."""
        raise NotImplementedError

    def create_topic(
        self,
        topic: str,
        partitions: int | None = None,
        replicas: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        raise NotImplementedError

    def delete_topic(self, topic: str) -> None:
        raise NotImplementedError

    def topics(self) -> set[str]:
        raise NotImplementedError

    def describe_topic(self, topic: str) -> dict[int, int]:
        """Partition → leader."""
        raise NotImplementedError

    def create_partitions(self, topic: str, count: int) -> None:
        raise NotImplementedError

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        raise NotImplementedError

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        raise NotImplementedError

    def describe_broker_configs(self, broker: int) -> dict[str, str | None]:
        raise NotImplementedError

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        """Return the new start of the log."""
        raise NotImplementedError

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        """The offset for earliest, latest, max_timestamp or a timestamp; -1 where there is none."""
        raise NotImplementedError

    def describe_cluster(self) -> Cluster:
        raise NotImplementedError
