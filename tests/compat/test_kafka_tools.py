"""Each of Kafka's command line tools against a node and against Kafka, side by side: what it prints is the same.

The steps of `STEPS` run one after the other on both, so that later ones find what earlier ones made. What is bound to
differ (ports, ids, times, sizes) is made alike before it is compared. Where a tool says something else here on
purpose, `DIFFERENT` has what it says and docs/kafka-tools.md the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from peers.kafka import Kafka
from peers.kafka_tools import MAINS, KafkaTools, Said
from peers.node import Node
from peers.process import Server

pytestmark = [pytest.mark.java, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs" / "kafka-tools.md"
SERVER = ("--bootstrap-server", "{bootstrap}")
SMALL = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


class Step(NamedTuple):
    """A tool with what it is told; `{file:…}` stands for a file of that content."""

    name: str
    tool: str
    arguments: tuple[str, ...]
    stdin: str = ""


def step(name: str, tool: str, *arguments: str, stdin: str = "") -> Step:
    """One that asks a server."""
    return Step(name, f"kafka-{tool}", (*arguments, *SERVER), stdin)


def configs(name: str, kind: str, entity: str, *changes: str) -> Step:
    """One of kafka-configs, that changes something or shows it."""
    what = ("--alter", *changes) if changes else ("--describe",)
    whom = ("--entity-default",) if entity == "default" else ("--entity-name", entity) if entity else ()
    return step(name, "configs", *what, "--entity-type", kind, *whom)


def placing(directory: str) -> str:
    """A reassignment that puts the first partition into a directory."""
    place = f'{{"topic":"t","partition":0,"replicas":[1],"log_dirs":["{directory}"]}}'
    return f'{{file:{{"version":1,"partitions":[{place}]}}}}'


STEPS = [
    # ── topics and records ──
    step("a topic is made", "topics", "--create", "--topic", "t", "--partitions", "1", "--config",
         "retention.ms=1000000"),
    step("and again", "topics", "--create", "--topic", "t"),
    step("one with a setting nobody knows", "topics", "--create", "--topic", "u", "--config", "nope=1"),
    step("topics are listed", "topics", "--list"),
    step("records are written", "console-producer", "--topic", "t", stdin="a\nb\nc\n"),
    step("and read", "console-consumer", "--topic", "t", "--from-beginning", "--max-messages", "3", "--group", "g",
         "--timeout-ms", "20000"),
    step("a topic is described", "topics", "--describe", "--topic", "t"),
    step("one that is not there", "topics", "--describe", "--topic", "nope"),
    step("partitions are added", "topics", "--alter", "--topic", "t", "--partitions", "3"),
    step("and cannot be taken away", "topics", "--alter", "--topic", "t", "--partitions", "1"),
    step("where partitions end", "get-offsets", "--topic", "t"),
    step("where they begin", "get-offsets", "--topic", "t", "--time", "earliest"),
    # ── settings ──
    configs("settings without effect", "topics", "t", "--add-config", "preallocate=true,flush.ms=9"),
    configs("settings of a topic", "topics", "t"),
    step("all settings of a topic", "configs", "--describe", "--all", "--entity-type", "topics", "--entity-name", "t"),
    configs("a setting is taken back", "topics", "t", "--delete-config", "flush.ms"),
    configs("a value that is none", "topics", "t", "--add-config", "retention.ms=x"),
    configs("a broker's settings", "brokers", "1", "--add-config", "num.io.threads=9,log.cleaner.threads=2"),
    configs("are shown", "brokers", "1"),
    configs("those of all brokers", "brokers", "default", "--add-config", "log.retention.ms=1000000000"),
    configs("are shown too", "brokers", "default"),
    configs("a group's settings", "groups", "g", "--add-config", "consumer.session.timeout.ms=50000"),
    configs("a group shows them", "groups", "g"),
    configs("a logger is set", "broker-loggers", "1", "--add-config", "root=WARN"),
    configs("a level that is none", "broker-loggers", "1", "--add-config", "root=LOUD"),
    step("a subscription to metrics", "client-metrics", "--alter", "--name", "m", "--metrics", "org.apache.kafka.",
         "--interval", "30000", "--match", "client_id=c.*"),
    step("subscriptions are listed", "client-metrics", "--list"),
    step("one is described", "client-metrics", "--describe", "--name", "m"),
    step("and deleted", "client-metrics", "--delete", "--name", "m"),
    # ── groups ──
    step("groups are listed", "groups", "--list"),
    step("consumer groups are listed", "consumer-groups", "--list"),
    step("a group is described", "consumer-groups", "--describe", "--group", "g"),
    step("its state", "consumer-groups", "--describe", "--group", "g", "--state"),
    step("its members", "consumer-groups", "--describe", "--group", "g", "--members"),
    step("a group that is not there", "consumer-groups", "--describe", "--group", "nope"),
    step("offsets are reset", "consumer-groups", "--reset-offsets", "--group", "g", "--topic", "t", "--to-earliest",
         "--execute"),
    step("offsets are deleted", "consumer-groups", "--delete-offsets", "--group", "g", "--topic", "t"),
    step("a group is deleted", "consumer-groups", "--delete", "--group", "g"),
    step("share groups", "share-groups", "--list"),
    step("streams groups", "streams-groups", "--list"),
    step("an application is reset", "streams-application-reset", "--application-id", "app", "--input-topics", "t",
         "--dry-run"),
    # ── partitions and where they lie ──
    step("records are deleted", "delete-records", "--offset-json-file",
         '{file:{"partitions":[{"topic":"t","partition":0,"offset":0}],"version":1}}'),
    step("what lies where", "log-dirs", "--describe", "--topic-list", "t"),
    step("a replica is moved to another directory", "reassign-partitions", "--execute", "--reassignment-json-file",
         placing("{folder}/two")),
    step("reassignments are listed", "reassign-partitions", "--list"),
    step("to a directory that is none", "reassign-partitions", "--execute", "--reassignment-json-file",
         placing("/nowhere")),
    step("the preferred leader is elected", "leader-election", "--election-type", "preferred", "--topic", "t",
         "--partition", "0"),
    step("all of them", "leader-election", "--election-type", "preferred", "--all-topic-partitions"),
    # ── transactions, the quorum, the cluster ──
    step("transactions", "transactions", "list"),
    step("producers", "transactions", "describe-producers", "--topic", "t", "--partition", "0"),
    step("a transaction that is not there", "transactions", "describe", "--transactional-id", "x"),
    step("hanging transactions", "transactions", "find-hanging", "--broker-id", "1"),
    step("the quorum", "metadata-quorum", "describe", "--status"),
    step("how far its members are", "metadata-quorum", "describe", "--replication"),
    step("features", "features", "describe"),
    step("the cluster's id", "cluster", "cluster-id"),
    step("endpoints", "cluster", "list-endpoints"),
    step("a broker that is not there is struck", "cluster", "unregister", "--id", "7"),
    step("versions of the APIs", "broker-api-versions"),
    # ── what is not served ──
    step("access rules", "acls", "--list"),
    step("an access rule", "acls", "--add", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t"),
    configs("a quota", "users", "u", "--add-config", "producer_byte_rate=1000"),
    # ── load ──
    step("much is written", "producer-perf-test", "--topic", "t", "--num-records", "10", "--record-size", "10",
         "--throughput", "-1"),
    step("and read in a hurry", "consumer-perf-test", "--topic", "t", "--num-records", "5"),
    step("there and back", "e2e-latency", "--topic", "t", "--num-records", "2", "--acks", "1", "--record-size", "10"),
    step("a topic is deleted", "topics", "--delete", "--topic", "t"),
    step("which is gone", "topics", "--delete", "--topic", "t"),
]  # fmt: skip

# What Andiron says where it is not what Kafka says: the reasons are in docs/kafka-tools.md.
UNSERVED = r"UnsupportedVersionException: The (node|broker) does not support \w+"
DIFFERENT = {
    "what lies where": r'"partition":"t-0","size":\d+,"offsetLag":0,"isFuture":false',
    "versions of the APIs": r"Produce\(0\): 0 to 13 \[usable: 13\]",
    "access rules": UNSERVED,
    "an access rule": UNSERVED,
    "a quota": UNSERVED,
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Said, Said]]]:
    """What each step printed: here, and with Kafka."""
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("kafka")
    with (
        Node(ours, settings=_directories(ours)) as node,
        Kafka(theirs, settings=_directories(theirs), jvm=SMALL) as kafka,
        KafkaTools() as tools,
    ):
        yield {each.name: (_run(tools, each, node), _run(tools, each, kafka)) for each in STEPS}


@pytest.mark.parametrize("name", [each.name for each in STEPS])
def test_a_tool_says_the_same(said: dict[str, tuple[Said, Said]], name: str) -> None:
    ours, theirs = said[name]
    if name in DIFFERENT:
        assert re.search(DIFFERENT[name], ours.out + ours.err), ours
    else:
        assert _alike(ours) == _alike(theirs)


def test_every_tool_is_in_the_table_of_the_docs() -> None:
    page = DOCS.read_text()

    assert [tool for tool in MAINS if f"| `{tool}` |" not in page] == []


def _directories(folder: Path) -> dict[str, str]:
    return {"log.dirs": f"{folder}/one,{folder}/two"}


def _run(tools: KafkaTools, step: Step, server: Server) -> Said:
    words = []
    for number, word in enumerate(step.arguments):
        word = word.replace("{bootstrap}", server.bootstrap).replace("{folder}", str(server.folder))
        if word.startswith("{file:"):
            path = server.folder / f"{abs(hash(step.name))}-{number}.json"
            path.write_text(word.removeprefix("{file:").removesuffix("}"))
            word = str(path)
        words.append(word)
    answer = tools.run(step.tool, *words, stdin=step.stdin)
    told = [text.replace(str(server.folder), "FOLDER") for text in (answer.out, answer.err)]
    return Said(answer.code, *told)


# What is of this server, this machine or this moment.
PASSING = [
    (re.compile(r"(localhost|127\.0\.0\.1)[: \t]+\d+"), "HOST:PORT"),
    (re.compile(r"\b[A-Za-z0-9_-]{22}\b"), "ID"),
    (re.compile(r"FOLDER/(one|two)"), "DIRECTORY"),
    (re.compile(r"(?m)^\d{4}-\d\d-\d\d .*, .*$"), "MEASURED"),
    (re.compile(r"\b\d{13}\b"), "TIME"),
    (re.compile(r"\d+\.\d+|\d+(?= ms)"), "NUMBER"),
    (re.compile(r"[ \t]+"), " "),
    # An error has the same kind, and words of its own.
    (re.compile(r"(org\.apache\.kafka\.common\.errors\.\w+): .*"), r"\1"),
    (re.compile(r"(Error while executing topic command : ).*"), r"\1"),
    # Kafka gives it to all brokers where eligible leader replicas are on.
    (re.compile(r"(?m)^ *min\.insync\.replicas=1 .*|min\.insync\.replicas=1,?"), ""),
]


def _alike(said: Said) -> tuple[int, list[str]]:
    """An answer without what is bound to differ; lines in any order, for the tools print sets."""
    text = said.out + said.err
    for pattern, word in PASSING:
        text = pattern.sub(word, text)
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("at ", "\tat "))]
    return said.code, sorted(line for line in lines if line)
