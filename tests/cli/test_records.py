"""Records in by `produce`, out by `consume`."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from cli.conftest import Run, command
from peers.process import Server


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_lines_come_back_as_they_went_in(run: Run, topic: str, codec: str) -> None:
    lines = "".join(f"line {number} é\n" for number in range(5000))
    said = run("produce", topic, "--compression", codec, stdin=lines)

    assert "5,000 records" in said.stderr
    assert "partition 0: offsets 0 to 4999" in said.stderr
    assert run("consume", topic).stdout == lines


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks_are_asked_for(run: Run, topic: str, acks: str) -> None:
    run("topic", "create", topic)
    run("produce", topic, "--acks", acks, stdin="one\ntwo\n")

    assert run("consume", topic, "--follow", "--count", 2).stdout == "one\ntwo\n"


def test_keys_headers_and_tombstones(run: Run, topic: str) -> None:
    options = ["--key-separator", ":", "--null-value", "", "--header", "trace=1f"]
    run("produce", topic, *options, stdin="a:1\nb:2\na:\n")

    assert (
        run("consume", topic, "--keys", "--headers").stdout
        == "trace=1f\ta\t1\ntrace=1f\tb\t2\ntrace=1f\ta\tnull\n"
    )
    last = json.loads(run("consume", topic, "--from", "-1", "--json").stdout)
    assert (last["key"], last["value"], last["headers"]) == ("a", None, [{"key": "trace", "value": "1f"}])


def test_a_topic_is_copied_through_json(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 2)
    run("topic", "create", f"{topic}-copy", "--partitions", 2)
    lines = [
        {"key": "k", "value": "v", "headers": {"h": "1"}, "partition": 1, "timestamp": 1700000000000},
        {"value_base64": "//8=", "partition": 0, "timestamp": "2024-05-01T12:00:00Z"},
        {"key": "gone", "value": None, "partition": 1, "timestamp": 1700000000001},
    ]
    run("produce", topic, "--json", stdin="".join(json.dumps(line) + "\n" for line in lines))
    first = run("consume", topic, "--json").stdout
    run("produce", f"{topic}-copy", "--json", stdin=first)
    second = run("consume", f"{topic}-copy", "--json").stdout

    assert sorted(first.replace(topic, "").splitlines()) == sorted(
        second.replace(f"{topic}-copy", "").splitlines()
    )
    assert len(first.splitlines()) == 3


def test_equal_keys_go_to_one_partition(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 5)
    run("produce", topic, "--key-separator", ":", stdin="".join(f"k{n % 7}:{n}\n" for n in range(70)))
    lines = [line.split() for line in run("consume", topic, "--format", "%k %p %v\\n").stdout.splitlines()]

    assert len(lines) == 70
    assert len({(key, partition) for key, partition, _ in lines}) == 7
    for key in {key for key, _, _ in lines}:
        values = [int(value) for each, _, value in lines if each == key]
        assert values == sorted(values)


def test_from_and_to(run: Run, topic: str) -> None:
    lines = [json.dumps({"value": str(n), "timestamp": 1_700_000_000_000 + n * 1000}) for n in range(10)]
    run("produce", topic, "--json", stdin="\n".join(lines))

    def read(*options: str) -> str:
        return run("consume", topic, *options).stdout.replace("\n", "")

    assert read() == "0123456789"
    assert read("--from", "7") == "789"
    assert read("--from", "-2") == "89"
    assert read("--from", "2", "--to", "5") == "234"
    assert read("--from", "@1700000004000") == "456789"
    assert read("--from", "@1700000003001", "--to", "@1700000006000") == "45"
    assert read("--from", "latest") == ""
    assert read("--from", "99") == ""
    assert read("--count", "3") == "012"
    assert read("--from", "1w ago") == ""


def test_a_large_input_is_streamed(run: Run, topic: str) -> None:
    size, count = 100_000, 300
    lines = b"".join(b"%d" % (n % 10) * size + b"\n" for n in range(count))
    run("produce", topic, "--compression", "lz4", stdin=lines)
    values = run("consume", topic).stdout.splitlines()

    assert len(values) == count
    assert all(value == str(n % 10) * size for n, value in enumerate(values))


def test_following_goes_on_until_it_is_interrupted(run: Run, topic: str, environment: dict[str, str]) -> None:
    run("produce", topic, stdin="before\n")
    reader = subprocess.Popen(
        command("consume", topic, "--follow"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == b"before\n"
    run("produce", topic, stdin="after\n")
    assert reader.stdout.readline() == b"after\n"
    reader.send_signal(signal.SIGINT)

    assert reader.communicate(timeout=60) == (b"", b"")
    assert reader.returncode == 0


def test_a_line_is_written_while_stdin_is_open(run: Run, topic: str, environment: dict[str, str]) -> None:
    run("topic", "create", topic)
    writer = subprocess.Popen(
        command("produce", topic), stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert writer.stdin is not None
    writer.stdin.write(b"typed\n")
    writer.stdin.flush()

    assert run("consume", topic, "--follow", "--count", 1).stdout == "typed\n"
    assert b"1 record" in writer.communicate(timeout=60)[1]


def test_a_reader_that_has_had_enough_is_no_failure(
    run: Run, topic: str, environment: dict[str, str]
) -> None:
    run("produce", topic, stdin="x" * 50 + "\n" + "\n".join(map(str, range(100_000))))
    reader = subprocess.Popen(
        command("consume", topic), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == b"x" * 50 + b"\n"
    reader.stdout.close()
    assert reader.stderr is not None

    assert reader.stderr.read() == b""
    assert reader.wait(60) == 0


def test_a_topic_that_is_not_there_is_told_at_once(run: Run, topic: str) -> None:
    assert f"there is no topic '{topic}'" in run("consume", topic, fails=1).stderr


def test_a_record_too_large_is_told(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--config", "max.message.bytes=1000")

    assert "max.message.bytes" in run("produce", topic, stdin="x" * 2000, fails=1).stderr


def test_records_without_a_key_are_refused_by_a_compacted_topic(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--config", "cleanup.policy=compact")

    assert "record 0" in run("produce", topic, stdin="x\n", fails=1).stderr


def test_several_addresses_may_be_given(run: Run, topic: str, node: Server) -> None:
    run("produce", topic, "-b", f"127.0.0.1:1,{node.bootstrap}", stdin="x\n")

    assert run("consume", topic, "-b", f"127.0.0.1:1,{node.bootstrap}").stdout == "x\n"
