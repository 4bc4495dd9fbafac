"""`andiron copy` from the outside: what it says and refuses. With processes that die: tests/cli/test_copying.py."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from click.testing import CliRunner, Result

from andiron.cli.copy import stopping
from andiron.cli.main import andiron
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.blocking.producer import Producer
from andiron.model.ids import TopicPartition
from peers.node import Node
from peers.ports import free_port

P = TopicPartition("orders", 0)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, Node]]:
    """A source with three records, a group and a topic that is not to be copied; and a target."""
    with Node(tmp_path_factory.mktemp("source")) as source, Node(tmp_path_factory.mktemp("target")) as target:
        with Client(source.bootstrap) as client:
            Admin(client).create_topic("orders", 1)
            Admin(client).create_topic("orders-test", 1)
            with Producer(client) as producer:
                for value in (b"a", b"b", b"c"):
                    producer.send("orders", value)
            GroupAdmin(client).commit("billing", {P: 2})
        yield source, target


def run(nodes: tuple[Node, Node], *arguments: str) -> Result:
    ends = ["--from", nodes[0].bootstrap, "--to", nodes[1].bootstrap]
    return CliRunner().invoke(andiron, ["copy", *ends, *arguments])


def test_from_the_plan_to_the_proof(nodes: tuple[Node, Node]) -> None:
    planned = run(nodes, "--exclude", "*-test", "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "orders           1         1                3  create" in planned.stdout
    assert "groups: billing" in planned.stdout

    done = run(nodes, "--exclude", "*-test", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["proven"] and told["records"] == 3
    assert told["groups"][0]["offsets"] == [{"topic": "orders", "partition": 0, "source": 2, "target": 2}]
    assert [each["topic"] for each in told["partitions"]] == ["orders"]

    again = run(nodes, "orders")
    assert "proven: 3 records on both sides" in again.stdout
    assert "orders-0            0  kept" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nothing*"], "the source has no topic 'nothing*'"), (["__consumer_offsets"], "is internal to its cluster"),
     (["--exclude", "*"], "the source has no topics to copy")],
)  # fmt: skip
def test_what_cannot_be_copied_is_one_line(nodes: tuple[Node, Node], arguments: list[str], said: str) -> None:
    refused = run(nodes, *arguments)

    assert refused.exit_code == 1
    assert said in refused.stderr and refused.stderr.count("\n") == 1


def test_a_cluster_onto_itself_and_one_that_is_not_there(nodes: tuple[Node, Node]) -> None:
    same = run((nodes[0], nodes[0]))
    assert same.exit_code == 1 and "the same cluster" in same.stderr

    nowhere = f"127.0.0.1:{free_port()}"
    away = CliRunner().invoke(andiron, ["copy", "--from", nodes[0].bootstrap, "--to", nowhere])
    assert away.exit_code == 1 and "the target does not answer" in away.stderr and "--to" in away.stderr


def test_wrong_usage(nodes: tuple[Node, Node]) -> None:
    assert "exclude each other" in run(nodes, "--no-groups", "--groups", "g").stderr
    assert "is no rate" in run(nodes, "--rate", "fast").stderr
    assert run(nodes, "--rate", "0").exit_code == 2
    assert run(nodes, "orders", "--rate", "1.5MiB/s", "--no-verify", "--no-groups").exit_code == 0


def test_a_copy_that_is_stopped_before_its_end_says_so(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("andiron.cli.copy.stopping", lambda: nullcontext(lambda: True))

    stopped = run(nodes, "orders")

    assert stopped.exit_code == 130
    assert "stopped before the end" in stopped.stderr and "proven" not in stopped.stdout
    assert run(nodes, "orders", "--follow").exit_code == 0


def test_a_signal_asks_to_end_in_order_and_a_second_ends_at_once() -> None:
    with stopping() as stop:
        assert not stop()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
