"""All of Kafka's command line tools, by the names of their scripts, in one virtual machine.

The scripts are not in the jars; each is the name of a class whose `main` it calls. To start a machine for each
would cost a minute of CPU for what is a second's work here.
"""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

from peers import jars, quick_java

TOOLS = "org.apache.kafka.tools."
MAINS = {
    "kafka-acls": TOOLS + "AclCommand",
    "kafka-broker-api-versions": TOOLS + "BrokerApiVersionsCommand",
    "kafka-client-metrics": TOOLS + "ClientMetricsCommand",
    "kafka-cluster": TOOLS + "ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": TOOLS + "consumer.ConsoleConsumer",
    "kafka-console-producer": TOOLS + "ConsoleProducer",
    "kafka-console-share-consumer": TOOLS + "consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": TOOLS + "consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": TOOLS + "ConsumerPerformance",
    "kafka-delegation-tokens": TOOLS + "DelegationTokenCommand",
    "kafka-delete-records": TOOLS + "DeleteRecordsCommand",
    "kafka-dump-log": TOOLS + "DumpLogSegments",
    "kafka-e2e-latency": TOOLS + "EndToEndLatency",
    "kafka-features": TOOLS + "FeatureCommand",
    "kafka-get-offsets": TOOLS + "GetOffsetShell",
    "kafka-groups": TOOLS + "GroupsCommand",
    "kafka-leader-election": TOOLS + "LeaderElectionCommand",
    "kafka-log-dirs": TOOLS + "LogDirsCommand",
    "kafka-metadata-shell": "org.apache.kafka.shell.MetadataShell",
    "kafka-metadata-quorum": TOOLS + "MetadataQuorumCommand",
    "kafka-producer-perf-test": TOOLS + "ProducerPerformance",
    "kafka-reassign-partitions": TOOLS + "reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": TOOLS + "ReplicaVerificationTool",
    "kafka-share-consumer-perf-test": TOOLS + "ShareConsumerPerformance",
    "kafka-share-groups": TOOLS + "consumer.group.ShareGroupCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-streams-application-reset": TOOLS + "StreamsResetter",
    "kafka-streams-groups": TOOLS + "streams.StreamsGroupCommand",
    "kafka-topics": TOOLS + "TopicCommand",
    "kafka-transactions": TOOLS + "TransactionsCommand",
    "kafka-verifiable-consumer": TOOLS + "VerifiableConsumer",
    "kafka-verifiable-producer": TOOLS + "VerifiableProducer",
    "kafka-verifiable-share-consumer": TOOLS + "VerifiableShareConsumer",
}


@cache
def shared_tools() -> KafkaTools:
    """One machine for all that a process asks."""
    tools = KafkaTools()
    atexit.register(tools.close)
    return tools


class Said(NamedTuple):
    """What a tool printed, and how it ended."""

    code: int
    out: str
    err: str


class KafkaTools:
    """The machine."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="kafka-tools-")  # some of the tools leave files behind
        libs = jars.server_jars()
        command = quick_java.command(
            libs,
            "Tools",
            beside=[jars.shell_jars().classpath, quick_java.compiled(libs, quick_java.SERVER_SOURCES)],
            options=["-Dlog4j2.level=OFF", f"-Djava.io.tmpdir={self._folder}"],
        )
        with open(self._errors, "wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    @property
    def _errors(self) -> Path:
        return Path(self._folder, "errors.log")

    def run(self, tool: str, *arguments: str, stdin: str = "", until: str = "") -> Said:
        """Run a tool to its end; one that goes on in threads of its own, `until` it has printed what matches that."""
        assert self._process.stdin and self._process.stdout
        command = {"main": MAINS[tool], "arguments": arguments, "stdin": stdin, "until": until}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the machine of the tools ended: {self._errors.read_text()[-2000:]}"
        return Said(**json.loads(line))

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
