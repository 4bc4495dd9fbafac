"""MirrorMaker 2 in its dedicated mode, one process with as many flows as are asked for, quick enough for a test.

Topics keep their names (IdentityReplicationPolicy) and groups' offsets are synced, as docs/moving.md has it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from peers import jars
from peers.kafka import LOGGING
from peers.process import Server

HEAP = ["-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
# What the page has, and then what makes it quick and small.
PROPERTIES = """\
replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy
sync.group.offsets.enabled = true
sync.topic.acls.enabled = false
"""
QUICK = """\
emit.checkpoints.interval.seconds = 1
sync.group.offsets.interval.seconds = 1
refresh.topics.interval.seconds = 1
refresh.groups.interval.seconds = 1
emit.heartbeats.enabled = false
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
config.storage.replication.factor = 1
status.storage.replication.factor = 1
offset.storage.partitions = 1
status.storage.partitions = 1
offset.flush.interval.ms = 1000
"""


class Mirror(Server):
    """Flows between clusters by their names; `topics` are those of each flow. Who measures says with which `jvm`."""

    name = "mirror"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        clusters: Mapping[str, str],
        topics: Mapping[tuple[str, str], str],
        properties: str = PROPERTIES,
        jvm: list[str] = HEAP,
    ) -> None:
        super().__init__(folder)
        self._jvm = jvm
        self.libs = jars.server_jars(), jars.mirror_jars()
        lines = [f"clusters = {', '.join(clusters)}"]
        lines += [f"{name}.bootstrap.servers = {bootstrap}" for name, bootstrap in clusters.items()]
        for one in clusters:
            for other in clusters:
                if (one, other) in topics:
                    lines += [
                        f"{one}->{other}.enabled = true",
                        f"{one}->{other}.topics = {topics[one, other]}",
                    ]
                elif one != other:
                    lines.append(f"{one}->{other}.enabled = false")
        self.properties = Path(folder) / "mm2.properties"
        self.properties.write_text("\n".join(lines) + "\n" + properties + QUICK)
        (self.folder / "log4j2.properties").write_text(LOGGING.format(level="WARN"))

    def command(self) -> list[str]:
        classpath = ":".join(libs.classpath for libs in self.libs)
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        main = "org.apache.kafka.connect.mirror.MirrorMaker"
        return [jars.java(), *self._jvm, logging, "-cp", classpath, main, str(self.properties)]

    def wait_until_ready(self) -> None:
        """It has no port: what it copies tells that it works."""
