"""Apache Kafka, a single node in KRaft combined mode: the oracle and the yardstick.

Started as its own start script does it: the same JVM options, the same class, a `server.properties` of the
defaults with a data folder and two free ports. The script itself is not in the jars, so its options are
written out here.
"""

from __future__ import annotations

import base64
import os
import subprocess
import uuid

from peers import jars
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


class Kafka(Server):
    """One Kafka node; `settings` are lines of its server.properties."""

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
        self.jvm = jvm or [*HEAP, *PERFORMANCE]
        self.properties = self.folder / "server.properties"
        (self.folder / "log4j2.properties").write_text(LOGGING.format(level=log_level))
        self._format()

    def command(self) -> list[str]:
        return self.java("kafka.Kafka", str(self.properties), options=self.jvm)

    def java(self, main: str, *arguments: str, options: list[str] | None = None) -> list[str]:
        """The command that runs a class of Kafka's jars."""
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        return [jars.java(), *(options or []), logging, "-cp", self.libs.classpath, main, *arguments]

    def _format(self) -> None:
        """Write server.properties and the data folder's meta.properties, once."""
        lines = {**self._defaults(), **self.settings}
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items() if value))
        if (self.data / "meta.properties").exists():
            return
        how = [*self._format_options(), "-t", new_id(), "-c", str(self.properties)]
        tool = self.java("kafka.tools.StorageTool", "format", *how)
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


def new_id() -> str:
    """An id as Kafka writes it, of a cluster or a directory."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text
