"""The load generator in C: what it says of a load is what a node took in and gave out."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import generator
from servers import Node, Raw, create_topic, frames

LINE = {
    "requests": 200,
    "records": 400,
    "bytes": 8 << 20,
    "seconds": 4.0,
    "p50": 10.0,
    "p99": 20.0,
    "p99.9": 30.0,
    "cpu": 2.0,
    "lost": 0,
}
TIMES = """
#include "times.h"
#include <stdio.h>
int main(void) {
    static struct times times;
    for (uint64_t each = 1; each <= 10000; each++)
        add_time(&times, each * 1000);
    printf("%f %f %f\\n", percentile(&times, 0.5), percentile(&times, 0.99), percentile(&times, 0.999));
}
"""


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    try:
        generator.build()
    except generator.NoCompiler as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with Node(tmp_path_factory.mktemp("node")) as running:
        yield running


def stored(node: Node, topic: str, partitions: int) -> tuple[int, int]:
    """How many records a topic has, by its watermarks; and how many its batches hold, read one after the other."""
    watermarks = records = 0
    with Raw(node.port) as link:
        for partition in range(partitions):
            offset = 0
            while True:
                answer = frames.read_fetch(link.ask(frames.fetch(topic, {partition: offset}, wait_ms=0)))
                error, watermark, found = answer.partitions[partition]
                assert error == 0
                while len(found) >= 61:
                    size, count = struct.unpack_from(">8xi45xi", found)
                    if len(found) < 12 + size:
                        break
                    records, offset, found = records + count, offset + count, found[12 + size :]
                if offset == watermark:
                    break
            watermarks += watermark
    return watermarks, records


def test_a_line_is_read_into_rates_and_shares() -> None:
    found = generator.read(json.dumps(LINE))

    assert (found.rate, found.mb_s, found.core) == (50.0, 2.0, 0.5)
    assert found.latency == {"p50": 10.0, "p99": 20.0, "p99.9": 30.0}


def test_a_generator_that_took_most_of_a_core_may_have_been_the_limit() -> None:
    assert not generator.read(json.dumps(LINE | {"cpu": 3.2})).was_the_limit
    assert generator.read(json.dumps(LINE | {"cpu": 3.3})).was_the_limit


def test_where_there_is_no_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")

    with pytest.raises(generator.NoCompiler, match="there is no C compiler"):
        generator.build()


def test_percentiles_are_right_to_a_sixtieth(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(TIMES)
    sources = [str(tmp_path / "main.c"), str(generator.HERE / "times.c"), f"-I{generator.HERE}"]
    subprocess.run(["cc", "-o", str(tmp_path / "times"), *sources], check=True)

    printed = subprocess.run([str(tmp_path / "times")], capture_output=True, text=True, check=True).stdout

    assert [float(word) for word in printed.split()] == pytest.approx([5000, 9900, 9990], rel=1 / 60)


def test_what_is_produced_is_stored_record_for_record(node: Node) -> None:
    create_topic(node, "produced", partitions=3)

    found = generator.run("produce", port=node.port, topic="produced", connections=4, in_flight=5, seconds=1)

    assert found.requests > 0
    assert found.records == found.requests * 148  # of 100 bytes and their frame, in 16 KB less a header
    assert stored(node, "produced", 3) == (found.records, found.records)


def test_so_many_bytes_are_sent_and_no_more(node: Node) -> None:
    create_topic(node, "bounded")

    found = generator.run("produce", port=node.port, topic="bounded", bytes=1 << 20, batch_bytes=100_000)

    assert found.requests == 11
    assert stored(node, "bounded", 1) == (found.records, found.records)


def test_without_acks_all_that_was_sent_arrives(node: Node) -> None:
    create_topic(node, "unacked")

    found = generator.run("produce", port=node.port, topic="unacked", acks=0, bytes=1 << 20, in_flight=4)
    with Raw(node.port) as link:  # a connection of its own: wait for what is under way on the other
        for _ in range(100):
            if (
                frames.read_fetch(link.ask(frames.fetch("unacked", {0: found.records - 1}))).partitions[0][0]
                == 0
            ):
                break

    assert stored(node, "unacked", 1) == (found.records, found.records)


@pytest.mark.parametrize("most", [1000, 65_536, 4 << 20])
def test_fetches_read_everything_again_and_again(node: Node, most: int) -> None:
    topic = f"fetched-{most}"
    create_topic(node, topic, partitions=2)
    written = generator.run("produce", port=node.port, topic=topic, connections=2, bytes=3 << 20)

    found = generator.run("fetch", port=node.port, topic=topic, connections=2, max_bytes=most, seconds=1)

    assert found.records > written.records, "not even once round"
    assert found.records % 148 == 0
    assert found.bytes >= found.records / 148 * (
        written.bytes / written.requests
    )  # a last batch may be cut off


def test_a_crowd_is_answered_one_by_one(node: Node) -> None:
    create_topic(node, "crowd", partitions=10)

    found = generator.run("produce", port=node.port, topic="crowd", connections=100, batch_bytes=0, seconds=1)

    assert found.records == found.requests
    assert stored(node, "crowd", 10) == (found.records, found.records)
    assert 0 < found.latency["p50"] <= found.latency["p99"] <= found.latency["p99.9"]
    assert found.cpu > 0


def test_idle_connections_are_kept(node: Node) -> None:
    found = generator.run("idle", port=node.port, idle=200, seconds=1)

    assert (found.requests, found.lost) == (0, 0)
    assert found.seconds == pytest.approx(1, abs=0.5)


def test_idle_connections_that_are_lost_are_counted(tmp_path: Path) -> None:
    with Node(tmp_path) as node, generator.begin("idle", port=node.port, idle=20, seconds=1) as load:
        node.kill()

        assert load.go().lost == 20


def test_a_refusal_ends_the_load(node: Node, capfd: pytest.CaptureFixture[str]) -> None:
    create_topic(node, "narrow", max_message_bytes="1000")

    with pytest.raises(RuntimeError):
        generator.run("produce", port=node.port, topic="narrow", batch_bytes=5000, seconds=1)

    assert "answered with error 10" in capfd.readouterr().err
