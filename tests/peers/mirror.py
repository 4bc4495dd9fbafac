"""MirrorMaker 2 in its dedicated mode, one process with as many flows as are asked for, quick enough for a test.

Topics keep their names (IdentityReplicationPolicy) and groups' offsets are synced, as docs/moving.md has it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from peers import jars, quick_java
from peers.kafka import configure_logging
from peers.process import Server

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
    """Flows between clusters by their names; `topics` are those of each flow. Who measures says with
    which options of Java's, `jvm`, if not the quick ones."""

    name = "mirror"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        clusters: Mapping[str, str],
        topics: Mapping[tuple[str, str], str],
        properties: str = PROPERTIES,
        jvm: list[str] | None = None,
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
        self._logging = configure_logging(self.folder, "WARN")

    def command(self) -> list[str]:
        server, mirror = self.libs
        main = "org.apache.kafka.connect.mirror.MirrorMaker"
        if self._jvm is not None:
            classpath = ":".join(libs.classpath for libs in self.libs)
            return [jars.java(), *self._jvm, self._logging, "-cp", classpath, main, str(self.properties)]
        return quick_java.command(
            server, main, str(self.properties), beside=[mirror.classpath], options=[self._logging]
        )

    def wait_until_ready(self) -> None:
        """It has no port: what it copies tells that it works."""
