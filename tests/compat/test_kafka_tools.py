"""Each of Kafka's command line tools against a node and against Kafka, side by side: what it prints is the same.

The steps of `STEPS` run one after the other on both, so that later ones find what earlier ones made. What is bound to
differ (ports, ids, times, sizes) is made alike before it is compared. Where a tool says something else here on
purpose, `DIFFERENT` has what it says and docs/kafka-tools.md the reason.
"""

from __future__ import annotations

import difflib
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from peers.kafka import Kafka
from peers.kafka_tools import MAINS, KafkaTools, Said
from peers.node import Node
from peers.process import Server

pytestmark = [pytest.mark.java, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs" / "kafka-tools.md"
SERVER, CONTROLLER = ("--bootstrap-server", "{bootstrap}"), ("--bootstrap-controller", "{controller}")


class Step(NamedTuple):
    """A tool with what it is told; `{file:…}` stands for a file of that content, `{of:t-0}` for that partition's folder
    and `{copy:t-0}` for a copy of it, since a node has locked its own."""

    name: str
    tool: str
    arguments: tuple[str, ...]
    stdin: str = ""
    until: str = ""


def step(name: str, tool: str, *arguments: str, stdin: str = "") -> Step:
    """One that asks a server."""
    return Step(name, f"kafka-{tool}", _asking(tool, arguments, SERVER), stdin)


def controller(name: str, tool: str, *arguments: str) -> Step:
    """One that asks a controller."""
    return Step(name, f"kafka-{tool}", _asking(tool, arguments, CONTROLLER))


def _asking(tool: str, arguments: tuple[str, ...], whom: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the tools want to know whom to ask before they are told what."""
    is_first = tool in ("features", "metadata-quorum", "transactions")
    return (*whom, *arguments) if is_first else (*arguments, *whom)


def offline(name: str, tool: str, *arguments: str) -> Step:
    """One that asks nobody and looks at files."""
    return Step(name, f"kafka-{tool}", arguments)


def shell(name: str, *arguments: str, until: str) -> Step:
    """What the metadata log says, as a tree; it may be asked before it has read all of it, and is then asked again."""
    log = f"{{copy:__cluster_metadata-0}}/{0:020d}.log"
    return Step(name, "kafka-metadata-shell", ("--snapshot", log, *arguments), until=until)


def configs(name: str, kind: str, entity: str, *changes: str) -> Step:
    """One of kafka-configs, that changes something or shows it."""
    what = ("--alter", *changes) if changes else ("--describe",)
    whom = ("--entity-default",) if entity == "default" else ("--entity-name", entity) if entity else ()
    return step(name, "configs", *what, "--entity-type", kind, *whom)


def placing(directory: str) -> str:
    """A reassignment that puts the first partition into a directory."""
    place = f'{{"topic":"t","partition":0,"replicas":[1],"log_dirs":["{directory}"]}}'
    return f'{{file:{{"version":1,"partitions":[{place}]}}}}'


CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
PROPERTIES = (
    "{file:process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://:1,CONTROLLER://:2\n"
    "controller.listener.names=CONTROLLER\ncontroller.quorum.voters=1@localhost:2\n"
    "log.dirs={folder}/one,{folder}/two\n}"
)
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
    offline("what lies on the disk", "dump-log", "--print-data-log", "--files", f"{{of:t-0}}/{0:020d}.log"),
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
    # ── controllers, asked themselves ──
    controller("the quorum, of a controller", "metadata-quorum", "describe", "--status"),
    controller("its members, of a controller", "metadata-quorum", "describe", "--replication"),
    controller("the cluster's id, of a controller", "cluster", "cluster-id"),
    controller("endpoints of controllers", "cluster", "list-endpoints"),
    controller("features, of a controller", "features", "describe"),
    controller("a setting, by a controller", "configs", "--alter", "--entity-type", "brokers", "--entity-default",
               "--add-config", "log.roll.ms=77777"),
    controller("settings, of a controller", "configs", "--describe", "--entity-type", "brokers", "--entity-default"),
    # ── folders ──
    offline("a new id", "storage", "random-uuid"),
    offline("what a folder says of itself", "storage", "info", "--config", PROPERTIES),
    offline("a folder of another cluster", "storage", "format", "--cluster-id", CLUSTER_ID, "--config", PROPERTIES),
    shell("the topics there are", "ls", "/image/topics/byName", until=r"(?m)^t$"),
    shell("a partition, as metadata has it", "cat", "/image/topics/byName/t/0", until="leader"),
    shell("settings, as metadata has them", "tree", "/image/configs", until="log.roll.ms"),
    # ── what is not served ──
    step("access rules", "acls", "--list"),
    step("an access rule", "acls", "--add", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t"),
    step("tokens", "delegation-tokens", "--describe", "--command-config", "{file:}"),
    configs("a quota", "users", "u", "--add-config", "producer_byte_rate=1000"),
    # ── load ──
    step("much is written", "producer-perf-test", "--topic", "t", "--num-records", "10", "--record-size", "10",
         "--throughput", "-1"),
    step("and read in a hurry", "consumer-perf-test", "--topic", "t", "--num-records", "5"),
    step("there and back", "e2e-latency", "--topic", "t", "--num-records", "2", "--producer-acks", "1", "--record-size",
         "10"),
    step("another topic", "topics", "--create", "--topic", "v", "--partitions", "1"),
    Step("written verifiably", "kafka-verifiable-producer", ("--topic", "v", "--max-messages", "3", *SERVER),
         until=r'"value":"2"'),
    step("and read so", "verifiable-consumer", "--topic", "v", "--group-id", "verifiable", "--max-messages", "3"),
    Step("replicas are compared", "kafka-replica-verification", ("--topics-include", "v", "--time", "-2",
         "--report-interval-ms", "500", "--broker-list", "{bootstrap}"), until="max lag is"),
    # ── features, changed ──
    controller("a feature is given up", "features", "downgrade", "--feature", "eligible.leader.replicas.version=0"),
    controller("and had again", "features", "upgrade", "--feature", "eligible.leader.replicas.version=1"),
    controller("the quorum's own", "features", "upgrade", "--feature", "kraft.version=1"),
    controller("which does not go back", "features", "downgrade", "--feature", "kraft.version=0"),
    step("a topic is deleted", "topics", "--delete", "--topic", "t"),
    step("which is gone", "topics", "--delete", "--topic", "t"),
]  # fmt: skip

# What Andiron says where it is not what Kafka says: the reasons are in docs/kafka-tools.md.
FEATURES = r"kraft\.version\s+SupportedMinVersion: 0\s+SupportedMaxVersion: 1\s+FinalizedVersionLevel: 1"
VOTERS = r'CurrentVoters:\s+\[\{"id": 1, "directoryId": "'
UNSERVED = r"UnsupportedVersionException: The (node|broker) does not support \w+"
DIFFERENT = {
    "the quorum": VOTERS,
    "the quorum, of a controller": VOTERS,
    "features": FEATURES,
    "features, of a controller": FEATURES,
    "what lies where": r'"partition":"t-0","size":\d+,"offsetLag":0,"isFuture":false',
    "versions of the APIs": r"Produce\(0\): 0 to 13 \[usable: 13\]",
    "access rules": UNSERVED,
    "an access rule": UNSERVED,
    "tokens": UNSERVED,
    "a quota": UNSERVED,
}


@pytest.mark.timeout(900)  # a minute of work; a machine that does much else takes its time
def test_each_tool_says_the_same(tmp_path: Path) -> None:
    """One test, since the steps build on each other: whoever runs one has run those before it, on both servers."""
    ours, theirs = tmp_path / "ours", tmp_path / "kafka"
    with (
        Node(ours, settings=_directories(ours)) as node,
        Kafka(theirs, settings=_directories(theirs)) as kafka,
        KafkaTools() as tools,
    ):
        said = {each.name: (_run(tools, each, node), _run(tools, each, kafka)) for each in STEPS}
    misused = [name for name, (ours, _) in said.items() if MISUSED.search(ours.out + ours.err)]
    assert misused == [], "they were told what they do not take, and did not get as far as a server"
    unlike = {name: each for name, each in said.items() if not _are_alike(name, *each)}
    assert not unlike, "\n".join(map(_difference, unlike, *zip(*unlike.values(), strict=True)))


def _are_alike(name: str, ours: Said, theirs: Said) -> bool:
    if name in DIFFERENT:
        return re.search(DIFFERENT[name], ours.out + ours.err) is not None
    return _alike(ours) == _alike(theirs)


def _difference(name: str, ours: Said, theirs: Said) -> str:
    """What to read when it fails: the lines that only one of them says."""
    (code, here), (their_code, there) = _alike(ours), _alike(theirs)
    lines = difflib.unified_diff(there, here, "kafka", "andiron", lineterm="", n=0)
    return "\n".join([f"{name}: exit code {code}, Kafka's {their_code}", *lines])


# What else there is in Kafka 4.3.1's bin/, of which the page says why it is not compared.
OTHERS = [
    "connect-distributed", "connect-mirror-maker", "connect-plugin-path", "connect-standalone", "kafka-jmx",
    "kafka-run-class", "kafka-server-start", "kafka-server-stop", "trogdor",
]  # fmt: skip


def test_every_tool_is_on_the_page_and_those_that_are_called_the_same_were_compared() -> None:
    page = DOCS.read_text()

    assert [tool for tool in MAINS if f"| `{tool}` |" not in page] == []
    assert [tool for tool in OTHERS if f"`{tool}`" not in page] == []
    same = re.findall(r"(?m)^\| `([\w-]+)` \| (?:the same|`info` is the same)", page)
    assert set(same) <= {each.tool for each in STEPS}


def _directories(folder: Path) -> dict[str, str]:
    return {"log.dirs": f"{folder}/one,{folder}/two"}


def _run(tools: KafkaTools, step: Step, server: Server) -> Said:
    words = []
    for number, word in enumerate(step.arguments):
        word = word.replace("{bootstrap}", server.bootstrap).replace("{folder}", str(server.folder))
        word = word.replace("{controller}", f"127.0.0.1:{server.controller_port}")
        word = re.sub(r"{of:(\S+?)}", lambda found: str(_folder_of(found[1], server)), word)
        word = re.sub(r"{copy:(\S+?)}", lambda found: str(_copy_of(found[1], server)), word)
        if word.startswith("{file:"):
            path = server.folder / f"{abs(hash(step.name))}-{number}.json"
            path.write_text(word.removeprefix("{file:").removesuffix("}"))
            word = str(path)
        words.append(word)
    for _ in range(ATTEMPTS):
        answer = tools.run(step.tool, *words, stdin=step.stdin, until=step.until)
        if step.tool != "kafka-metadata-shell" or re.search(step.until, answer.out):
            break
    told = [text.replace(str(server.folder), "FOLDER") for text in (answer.out, answer.err)]
    return Said(answer.code, *told)


def _folder_of(partition: str, server: Server) -> Path:
    (found,) = server.folder.glob(f"*/{partition}")
    return found


def _copy_of(partition: str, server: Server) -> Path:
    copy = server.folder / "copies" / "of" / partition
    shutil.copytree(_folder_of(partition, server), copy, dirs_exist_ok=True)
    return copy


ATTEMPTS = 20
MISUSED = re.compile("(?i)usage:|unrecognized|not a recognized option|missing required")
# What is of this server, this machine or this moment.
PASSING = [
    (re.compile(r"(localhost|127\.0\.0\.1)[: \t]+\d+"), "HOST:PORT"),
    (re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])"), "ID"),
    (re.compile(r"(HighWatermark:\s+|ID\s+)\d+"), r"\1OFFSET"),
    (re.compile(r"partitionEpoch=\d+"), "CHANGES"),
    (re.compile(r"FOLDER/(one|two)"), "DIRECTORY"),
    (re.compile(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+: "), ""),
    (re.compile(r"(?m)^\d{4}-\d\d-\d\d .*, .*$"), "MEASURED"),
    (re.compile(r"(crc|size): \d+"), r"\1"),  # the times of records are in both
    (re.compile(r"(Percentiles: ).*"), r"\1"),
    (re.compile(r"\b\d{13}\b"), "TIME"),
    (re.compile(r"\d+\.\d+|\d+(?= ms)"), "NUMBER"),
    (re.compile(r"[ \t]+"), " "),
    # An error has the same kind, and words of its own.
    (re.compile(r"(org\.apache\.kafka\.common\.errors\.\w+): .*"), r"\1"),
    (re.compile(r"(Error while executing topic command : |Could not \w+ \S+ to \d+\. ).*"), r"\1"),
]


def _alike(said: Said) -> tuple[int, list[str]]:
    """An answer without what is bound to differ; lines in any order and once, for the tools print sets, and again."""
    text = said.out + said.err
    for pattern, word in PASSING:
        text = pattern.sub(word, text)
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("at ", "\tat "))]
    return said.code, sorted({line for line in lines if line})
