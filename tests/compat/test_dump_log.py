"""Kafka's tools read our folders, and Kafka's folders are there for us to read.

DumpLogSegments walks every file of a stopped node: segments record by record, both indexes against their
segment, producer snapshots with their checksum, and the metadata log. Then the folders change places.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from peers import clients
from peers.dumping import complaints, dump
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.written import Written, fill

pytestmark = pytest.mark.java
Shown = tuple[int | None, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


@pytest.fixture(scope="module")
def written(
    tmp_path_factory: pytest.TempPathFactory,
    server_kind: type[Node] | type[Kafka],
    request: pytest.FixtureRequest,
) -> Written:
    """The folder of a stopped server of the kind under test; no Kafka is started for ours."""
    if server_kind is Kafka:
        kafka_written: Written = request.getfixturevalue("kafka_written")
        return kafka_written
    with server_kind(tmp_path_factory.mktemp("written")) as server:
        return fill(server)


def test_segments_and_indexes_are_read_without_complaint(written: Written) -> None:
    folders = [written.partition(topic) for topic in written.records]
    files = [file for kind in ("log", "index", "timeindex") for file in of_kind(folders, kind)]

    printed = dump(files, "--deep-iteration")

    assert complaints(printed) == []
    assert offsets(printed) == [at for records in written.records.values() for at in range(len(records))]


def test_a_damaged_segment_is_complained_of(tmp_path: Path, written: Written) -> None:
    """The test of the test: silence must mean something."""
    source = sorted(written.partition("many").glob("*.log"))[0]
    damaged = bytearray(source.read_bytes())
    damaged[200] ^= 1
    (tmp_path / source.name).write_bytes(damaged)

    assert complaints(dump([tmp_path / source.name])) != []


def test_the_indexes_pass_the_check_of_a_starting_broker(written: Written) -> None:
    folders = [written.partition(topic) for topic in ("many", "timeless")]
    files = [*of_kind(folders, "index"), *of_kind(folders, "timeindex")]

    printed = dump(files, "--index-sanity-check")

    assert complaints(printed) == []
    assert printed.count("passed sanity check") + printed.count("is empty") == len(files)


def of_kind(folders: list[Path], kind: str) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.glob(f"*.{kind}"))]


def test_many_segments_have_index_entries_and_those_without_timestamps_none_of_time(written: Written) -> None:
    """Not a law, but without it the tests above would look at nothing."""
    timeless = written.partition("timeless")
    assert len(list(timeless.glob("*.log"))) > 2
    assert {file.stat().st_size for file in timeless.glob("*.timeindex")} == {0}
    folder = written.partition("many")

    assert len(list(folder.glob("*.log"))) > 3
    assert sum(index.stat().st_size for index in folder.glob("*.index")) >= 20 * 8
    assert sum(index.stat().st_size for index in folder.glob("*.timeindex")) >= 10 * 12


def test_producer_snapshots_are_read_without_complaint(written: Written) -> None:
    folder = written.partition("many")
    snapshots = sorted(folder.glob("*.snapshot"))

    printed = dump(snapshots)

    assert complaints(printed) == []
    assert len(re.findall(r"^producerId: ", dump(snapshots[-1:]), re.MULTILINE)) == 5


def test_the_metadata_log_is_read_record_by_record(written: Written) -> None:
    folder = written.partition("__cluster_metadata")
    files = sorted(folder.glob("*.log")) + sorted(folder.glob("*.checkpoint"))

    printed = dump(files, "--cluster-metadata-decoder")

    assert complaints(printed) == []
    types = set(re.findall(r'"type":"(\w+)"', printed))
    assert {"TOPIC_RECORD", "PARTITION_RECORD", "CONFIG_RECORD", "FEATURE_LEVEL_RECORD"} <= types
    assert {"REGISTER_BROKER_RECORD"} <= types
    assert set(re.findall(r'"type":"TOPIC_RECORD".*?"name":"(\w+)"', printed)) == set(written.records)


def test_kafka_serves_a_log_that_we_wrote(tmp_path: Path, written: Written) -> None:
    with Kafka(tmp_path / "kafka") as kafka:
        assert served_from(kafka, written) == contents(written)


def test_we_serve_a_log_that_kafka_wrote(
    tmp_path: Path, server_kind: type[Node] | type[Kafka], kafka_written: Written
) -> None:
    with server_kind(tmp_path / "node") as server:
        assert served_from(server, kafka_written) == contents(kafka_written)


def served_from(server: Server, written: Written) -> dict[str, list[Shown]]:
    """What a server shows of someone else's logs when they are put in place of its own."""
    client = clients.connect("confluent", server.bootstrap)
    for topic in written.records:
        client.create_topic(topic, 1, 1, {"retention.ms": "-1"})
    server.stop()
    for topic in written.records:
        move_log(written.partition(topic), server.data / f"{topic}-0")
    server.start()
    client = clients.connect("confluent", server.bootstrap)
    return {
        topic: [(r.offset, r.key, r.value, r.headers) for r in client.read(topic, end=len(records))]
        for topic, records in written.records.items()
    }


def contents(written: Written) -> dict[str, list[Shown]]:
    return {
        topic: [(offset, r.key, r.value, r.headers) for offset, r in enumerate(records)]
        for topic, records in written.records.items()
    }


def move_log(source: Path, target: Path) -> None:
    """Everything but partition.metadata, which ties a folder to its cluster's id for the topic."""
    for old in target.iterdir():
        if old.name != "partition.metadata":
            old.unlink()
    for file in source.iterdir():
        if file.name != "partition.metadata":
            (target / file.name).write_bytes(file.read_bytes())


def offsets(printed: str) -> list[int]:
    """The offset of each record of a deep dump."""
    return [int(found) for found in re.findall(r"^\| offset: (\d+)", printed, re.MULTILINE)]


def test_our_tools_find_nothing_wrong_with_what_kafka_wrote_and_show_every_batch(
    kafka_written: Written,
) -> None:
    done = run_andiron("log", "verify", str(kafka_written.data))
    assert done.returncode == 0, done.stdout + done.stderr
    for topic, records in kafka_written.records.items():
        done = run_andiron("log", "dump", str(kafka_written.partition(topic)), "--records", "--json")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count('"offset"') >= len(records)


def run_andiron(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "andiron", *arguments], capture_output=True, text=True, check=False
    )
