"""kafka-python's own integration tests against a node: `python tests/compat/kafka_python_suite.py [filter]`.

The library ships its tests in its source distribution, written for brokers that they start themselves. They
can be pointed at one that is there (KAFKA_URI); the two modules they miss for it are written beside them.
Each test is listed as passed, failed or skipped; those of services that a node does not offer yet are told
apart by name. The exit code counts the failures that are not excused in this way.

`ANDIRON_TEST_PEER=kafka` runs them against Apache Kafka, to see which fail for reasons of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peers import jars
from peers.kafka import Kafka
from peers.node import Node
from peers.ports import free_port
from peers.process import Server

# What needs a service that this node does not have yet, by a piece of the test's name.
NOT_YET = {
    "acls": "access control",
    "elect_leaders": "leader election by hand",
    "reassignments": "reassignment of partitions",
    "alter_replica_log_dirs": "moving replicas between folders",
    "metadata_quorum": "DescribeQuorum",
    "sasl": "SASL",
    "ssl": "TLS",
}
# As its own brokers are set: short sessions, and several partitions where a topic is made by itself.
SETTINGS = {
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
    "num.partitions": "4",
}
# The distribution leaves out the module that starts processes; with a broker that is there, none is started.
SERVICE = """
class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port
    def open(self): pass
    def close(self): pass
    def stop(self): pass
    def dump_logs(self): pass
class SpawnedService:
    pass
"""


def main(wanted: str = "") -> int:
    suite = unpacked()
    with tempfile.TemporaryDirectory(prefix="kafka-python-suite-") as scratch:
        folder = Path(scratch)
        with server_of_id_0(folder / "node") as server:
            results = run(suite, server, wanted, folder / "results.xml")
    for outcome, test, note in sorted(results):
        print(f"{outcome:8} {test}{'  · ' + note if note else ''}")
    counts = {
        kind: sum(outcome == kind for outcome, _, _ in results) for kind in ("passed", "failed", "not yet")
    }
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return counts["failed"]


def server_of_id_0(folder: Path) -> Server:
    """The suite assigns replicas to broker 0, and expects its advertised listeners to be set."""
    if os.environ.get("ANDIRON_TEST_PEER") == "kafka":
        return Kafka(folder, settings=SETTINGS, node_id=0)
    port = free_port()
    own = {"node.id": "0", "advertised.listeners": f"PLAINTEXT://localhost:{port}"}
    return Node(folder, port, own | SETTINGS)


def unpacked() -> Path:
    """The source distribution of the installed version, in the cache."""
    release = version("kafka-python")
    folder = jars.CACHE / f"kafka_python-{release}"
    if not folder.is_dir():
        jars.CACHE.mkdir(exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([*fetch, "-d", scratch, f"kafka-python=={release}"], check=True)
            with tarfile.open(next(Path(scratch).glob("*.tar.gz"))) as packed:
                packed.extractall(jars.CACHE, filter="data")
    (folder / "test" / "__init__.py").touch()
    (folder / "test" / "service.py").write_text(SERVICE)
    return folder


def run(suite: Path, server: Server, wanted: str, report: Path) -> list[tuple[str, str, str]]:
    """(outcome, test, note) of every test."""
    environment = os.environ | {
        "KAFKA_URI": f"kafka://{server.bootstrap}",
        "KAFKA_VERSION": jars.VERSION.rpartition(".")[0],
        "KAFKA_ROOT": str(suite),
        "PYTHONPATH": str(suite),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "log_level=ERROR"]
    command += ["--timeout=30", "--timeout-method=signal", f"--junitxml={report}", "test/integration"]
    if wanted:
        command += ["-k", wanted]
    subprocess.run(command, cwd=suite, env=environment, stdout=subprocess.DEVNULL, check=False)
    return [outcome_of(case) for case in ElementTree.parse(report).iter("testcase")]


def outcome_of(case: ElementTree.Element) -> tuple[str, str, str]:
    test = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
    trouble = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
    if trouble is None:
        return "passed", test, ""
    note = (trouble.get("message") or "").splitlines()[0][:120] if trouble.get("message") else ""
    if trouble.tag == "skipped":
        return "skipped", test, note
    missing = next((service for piece, service in NOT_YET.items() if piece in test), None)
    return ("not yet", test, missing) if missing else ("failed", test, note)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
