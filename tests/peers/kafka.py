"""Apache Kafka, a single node in KRaft combined mode: the oracle and the yardstick.

Started as its own start script does it: the same class, a `server.properties` of the defaults with a data folder and
two free ports. The tests' Java is quick to come up (quick_java.py); who measures has the script's own options, which
are written out here, since the script is not in the jars.
"""

from __future__ import annotations

import base64
import os
import subprocess
import uuid
from pathlib import Path

from peers import jars, quick_java
from peers.ports import free_port
from peers.process import Server

# kafka-server-start.sh: heap; kafka-run-class.sh: performance options and headless mode.
HEAP = ["-Xmx1G", "-Xms1G"]
PERFORMANCE = [
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
]
LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
"""


AS_SHIPPED = [*HEAP, *PERFORMANCE]


class Kafka(Server):
    """One Kafka node; `settings` are lines of its server.properties, `jvm` Java's options if not the quick ones."""

    name = "kafka"
    start_timeout_s = 120.0

    def __init__(
        self,
        folder: str | os.PathLike[str],
        port: int | None = None,
        settings: dict[str, str] | None = None,
        node_id: int = 1,
        log_level: str = "INFO",
        controller_port: int | None = None,
        jvm: list[str] | None = None,
    ) -> None:
        super().__init__(folder, port)
        self.libs = jars.server_jars()
        self.settings = settings or {}
        self.node_id = node_id
        self.controller_port = controller_port or free_port()
        self.jvm = jvm
        self.properties = self.folder / "server.properties"
        self._logging = configure_logging(self.folder, log_level)
        self._format()

    def command(self) -> list[str]:
        if self.jvm is None:
            return self._quickly("kafka.Kafka", str(self.properties))
        java = [jars.java(), *self.jvm, self._logging, "-cp", self.libs.classpath]
        return [*java, "kafka.Kafka", str(self.properties)]

    def _quickly(self, main: str, *arguments: str) -> list[str]:
        return quick_java.command(self.libs, main, *arguments, options=[self._logging])

    def _format(self) -> None:
        """Write server.properties and the data folder's meta.properties, once."""
        lines = {**self._defaults(), **self.settings}
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items() if value))
        if (self.data / "meta.properties").exists():
            return
        how = [*self._format_options(), "-t", new_id(), "-c", str(self.properties)]
        tool = self._quickly("kafka.tools.StorageTool", "format", *how)
        done = subprocess.run(tool, capture_output=True, text=True, check=False)
        if done.returncode:
            raise jars.Missing(f"StorageTool could not format: {(done.stdout + done.stderr)[-500:]}")

    def _format_options(self) -> list[str]:
        """What the tool is told beside the cluster and the settings."""
        return []

    def _defaults(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": str(self.node_id),
            "controller.quorum.voters": f"{self.node_id}@127.0.0.1:{self.controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self.data),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
        }


def configure_logging(folder: Path, level: str = "INFO") -> str:
    """What a Java of Kafka's prints, from a level on; the option that tells it."""
    file = folder / "log4j2.properties"
    file.write_text(LOGGING.format(level=level))
    return f"-Dlog4j2.configurationFile={file}"


def new_id() -> str:
    """An id as Kafka writes it, of a cluster or a directory."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text
