"""kcat, the command line on an older librdkafka: what the world's shell scripts use."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from peers.clients.base import ISOLATION, PATIENCE_S, Client, Cluster, Record, Refused
from peers.jars import Missing

MESSAGE, KEY = b"\x1d\x1e\x1f<message>", b"\x1d\x1e\x1f<key>"
CODES = {"Unknown topic or partition": 3, "out of range": 1, "Message size too large": 10}
FORMAT = r"%o %T %K %S %h\n%k%s\n"
TIMES = {"earliest": -2, "latest": -1}


class Kcat(Client):
    """kcat writes one set of headers for all records, no timestamps, and null where it is given nothing."""

    name = "kcat"

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        if not shutil.which("kcat"):
            raise Missing("kcat is not installed")

    @classmethod
    def writable(cls, records: Sequence[Record]) -> list[Record]:
        shared = next((record.headers for record in records if record.headers), ())
        return [
            replace(
                record, key=record.key or None, value=record.value or None, headers=shared, timestamp=None
            )
            for record in records
        ]

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
        command = ["-P", "-t", topic, "-p", str(partition), "-z", codec, "-Z"]
        command += ["-D", _escaped(MESSAGE), "-K", _escaped(KEY)]
        command += ["-X", f"acks={acks}", "-X", "message.max.bytes=8000000", "-X", "linger.ms=5"]
        if idempotent is not None:
            command += ["-X", f"enable.idempotence={str(idempotent).lower()}"]
        for name, value in records[0].headers:
            command += ["-H", name if value is None else f"{name}={value.decode()}"]
        self._run(command, MESSAGE.join((r.key or b"") + KEY + (r.value or b"") for r in records))
        return [-1] * len(records)

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        command = ["-C", "-t", topic, "-p", str(partition), "-o", str(start), "-c", str(end - start), "-q"]
        command += ["-X", "auto.offset.reset=error", "-f", FORMAT]
        return list(_records(self._run(command)))

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        command = ["-C", "-t", topic, "-p", str(partition), "-o", "0", "-e", "-q"]
        command += [
            "-X",
            f"isolation.level={ISOLATION[committed]}",
            "-X",
            "fetch.wait.max.ms=10",
            "-f",
            FORMAT,
        ]
        return list(_records(self._run(command)))

    def topics(self) -> set[str]:
        return {found["topic"] for found in self._list()["topics"]}

    def describe_topic(self, topic: str) -> dict[int, int]:
        (found,) = self._list("-t", topic)["topics"]
        if "error" in found:
            raise _refused(found["error"])
        return {partition["partition"]: partition["leader"] for partition in found["partitions"]}

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        time = spec if isinstance(spec, int) else TIMES[spec]
        said = self._run(["-Q", "-t", f"{topic}:{partition}:{time}"]).decode()
        found = re.search(r"offset (-?\d+)", said)
        if not found:
            raise _refused(said)
        return int(found[1])

    def describe_cluster(self) -> Cluster:
        found = self._list()
        return Cluster(frozenset(broker["id"] for broker in found["brokers"]), found["controllerid"])

    def _list(self, *more: str) -> Any:
        return json.loads(self._run(["-L", "-J", *more]))

    def _run(self, arguments: list[str], given: bytes = b"") -> bytes:
        command = ["kcat", "-b", self.bootstrap, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE_S, check=False)
        if done.returncode:
            raise _refused(done.stderr.decode(errors="replace"))
        return done.stdout


def _records(printed: bytes) -> Sequence[Record]:
    """kcat's lines, by the lengths they announce, so that any byte may stand in a key or value."""
    found, at = [], 0
    while at < len(printed):
        line_end = printed.index(b"\n", at)
        offset, time, key_size, value_size, headers = printed[at:line_end].split(b" ", 4)
        key_end = line_end + 1 + max(int(key_size), 0)
        value_end = key_end + max(int(value_size), 0)
        key = None if int(key_size) < 0 else printed[line_end + 1 : key_end]
        value = None if int(value_size) < 0 else printed[key_end:value_end]
        found.append(Record(key, value, _headers(headers), int(time), int(offset)))
        at = value_end + 1
    return found


def _headers(printed: bytes) -> tuple[tuple[str, bytes | None], ...]:
    pairs = (each.partition(b"=") for each in printed.split(b",")) if printed else ()
    return tuple((name.decode(), None if value == b"NULL" else value) for name, _, value in pairs)


def _escaped(delimiter: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in delimiter)


def _refused(said: str) -> Refused:
    code = next((code for text, code in CODES.items() if text in said), -1)
    return Refused(code, said.strip()[-500:])
