"""Where the rounds are played: the cluster, everybody at work, one fault after the other, then the account.

    with Arena(folder, libraries=["confluent"]) as arena:
        for each in rounds(seed, 50, PARTITIONS):
            arena.play(each)
        verdict = arena.finish()

Everybody works on through all rounds. A round strikes, waits, mends, and waits until all replicas are in sync again;
what was acknowledged until then is looked up from time to time, and everything in the end.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from confluent_kafka.admin import AdminClient, NewTopic

from andiron.chaos.cluster import ChaosCluster
from andiron.chaos.faults import FAULTS
from andiron.cli.failure import Failure
from chaos import writers
from chaos.audit import Verdict, check_banker, check_reader, check_writer, read_log
from chaos.bankers import Banker
from chaos.bridge import Bridge, check_bridge
from chaos.canary import Canary
from chaos.plan import ALL_AT_ONCE, ROLLING, Round
from chaos.readers import GroupReader, committed, wait_for
from chaos.writers.base import Writer
from chaos.writers.confluent import QUIET

PARTITIONS = 4
WHOLE_S, PROGRESS_S = 90.0, 120.0  # of patience, and as long as the disk stands still on top
RECORDS, ACCOUNTS, COPIES = "records", "accounts", "copies"
SETTINGS = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.consumer.min.session.timeout.ms": "5000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}


class Stuck(Exception):
    """Somebody does not get on, though everything is mended."""


def name_of(worker: Writer | Banker | Bridge | GroupReader) -> str:
    """What it is called in what is printed."""
    return worker.ledger.writer if isinstance(worker, Writer) else worker.name


class Arena:
    """Three nodes, and all who work with them."""

    def __init__(
        self,
        folder: Path,
        libraries: Sequence[str] = ("confluent",),
        *,
        rate: float = 200.0,
        transactions: bool = True,
        seed: int = 0,
        debug: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.cluster = ChaosCluster(str(folder), {**SETTINGS, **(settings or {})})
        bootstrap = self.cluster.bootstrap
        self.writers = [writers.make(each, each, bootstrap, RECORDS, PARTITIONS, rate) for each in libraries]
        self.bankers = [Banker("banker", bootstrap, ACCOUNTS, PARTITIONS, seed)] if transactions else []
        bridge = Bridge("bridge", bootstrap, RECORDS, COPIES, PARTITIONS, debug)
        self.bridges = [bridge] if transactions else []
        self.readers = [
            GroupReader("cooperative", bootstrap, RECORDS, PARTITIONS, debug=debug),
            GroupReader("consumer", bootstrap, RECORDS, PARTITIONS, protocol="consumer", debug=debug),
        ]
        self.canary = Canary(folder)
        self.outage = 0.0  # the longest time until a fault was over, whole again

    def __enter__(self) -> Self:
        self.cluster.__enter__()
        self.canary.start()
        self._make_topics()
        for each in self._everybody():
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.cluster.ids:
            self.cluster.resume(each)
        self.cluster.close()
        self.canary.stop()

    # ── a round ──────────────────────────────────────────────────────────────────────

    def play(self, given: Round) -> str:
        """Strike and mend; returns who it was."""
        if given.how == ROLLING:
            return self._roll()
        if given.how == ALL_AT_ONCE:
            return self._kill_all()
        nodes = self._whom(given)
        harms = [(FAULTS[how], node) for how, node in zip(given.how.split("+"), nodes, strict=True)]
        for fault, node in harms:
            fault.strike(self.cluster, node)
        time.sleep(given.seconds)
        for fault, node in harms:
            fault.mend(self.cluster, node)
        self.settle()
        return f"node {' and '.join(map(str, nodes))}"

    def settle(self) -> None:
        """Wait until all is well again."""
        began, stood_s = time.monotonic(), self.canary.stood_s
        while True:
            try:
                self.cluster.wait_until_whole(patience_s=WHOLE_S)
                break
            except Failure as late:
                if self.canary.stood_s == stood_s:
                    raise Stuck(str(late)) from None
                stood_s = self.canary.stood_s
        self.outage = max(self.outage, time.monotonic() - began)

    def wait_for_progress(self, records: int = 1) -> str:
        """Until every writer has so many more acknowledgements, and everybody else has got on too; who was the last."""
        last = ""
        goals = {each: each.progress + (records if each in self.writers else 1) for each in self._everybody()}
        until = time.monotonic() + PROGRESS_S - self.canary.stood_s
        while late := [each for each, goal in goals.items() if each.progress < goal]:
            last = ", ".join(name_of(each) for each in late)
            if time.monotonic() > until + self.canary.stood_s:
                raise Stuck(f"{last}, {PROGRESS_S:.0f} s after everything was mended")
            time.sleep(0.05)
        return last

    def check(self) -> Verdict:
        """What was acknowledged up to now is there."""
        verdict = Verdict()
        told = {each: each.ledger.snapshot() for each in self.writers}
        committed = {each: list(each.committed) for each in self.bankers}
        log = read_log(self.cluster.bootstrap, RECORDS, PARTITIONS, committed=False)
        for writer, acked in told.items():
            check_writer(verdict, writer.ledger, acked, log)
        if self.bankers:
            accounts = read_log(self.cluster.bootstrap, ACCOUNTS, PARTITIONS, committed=True)
            for banker, numbers in committed.items():
                check_banker(verdict, banker, accounts, numbers)
        self._check_problems(verdict)
        return verdict

    def finish(self) -> Verdict:
        """Everybody comes to an end; then everything must add up."""
        for each in (*self.writers, *self.bankers):
            each.stop()
        verdict = Verdict()
        log = read_log(self.cluster.bootstrap, RECORDS, PARTITIONS, committed=False)
        for writer in self.writers:
            check_writer(verdict, writer.ledger, writer.ledger.snapshot(), log)
        ends = {partition: max(records, default=-1) + 1 for partition, records in log.items()}
        for reader in self.readers:
            if not wait_for(reader, ends):
                verdict.note("stuck", f"{reader.name} has committed {committed(reader)} of {ends}")
            reader.stop()
            check_reader(verdict, reader, log)
        for bridge in self.bridges:
            if not wait_for(bridge, ends):
                verdict.note("stuck", f"{bridge.name} has committed {committed(bridge)} of {ends}")
            bridge.stop()
            copies = read_log(self.cluster.bootstrap, COPIES, PARTITIONS, committed=True)
            check_bridge(verdict, bridge, log, copies)
        if self.bankers:
            accounts = read_log(self.cluster.bootstrap, ACCOUNTS, PARTITIONS, committed=True)
            for banker in self.bankers:
                check_banker(verdict, banker, accounts)
        self._check_problems(verdict)
        return verdict

    # ── its parts ────────────────────────────────────────────────────────────────────

    def _everybody(self) -> list[Writer | Banker | Bridge | GroupReader]:
        return [*self.writers, *self.bankers, *self.bridges, *self.readers]

    def _whom(self, given: Round) -> list[int]:
        if given.whom == "controller":
            return [self.cluster.controller()]
        partition = self.cluster.partition(RECORDS, given.partition)
        follower = next(each for each in partition.replicas if each != partition.leader)
        return {"leader": [partition.leader], "follower": [follower], "two": [partition.leader, follower]}[
            given.whom
        ]

    def _roll(self) -> str:
        controller = self.cluster.controller()
        order = sorted(self.cluster.ids, key=lambda node: node == controller)
        for node in order:
            self.cluster.stop(node)
            self.cluster.start(node)
            self.settle()
        return f"nodes {order}"

    def _kill_all(self) -> str:
        for node in self.cluster.ids:
            self.cluster.kill(node)
        for node in self.cluster.ids:
            self.cluster.start(node)
        self.settle()
        return "all nodes"

    def _make_topics(self) -> None:
        admin = AdminClient(QUIET | {"bootstrap.servers": self.cluster.bootstrap})
        for name in (RECORDS, ACCOUNTS, COPIES):
            topic = NewTopic(name, PARTITIONS, 3, config={"min.insync.replicas": "2", "retention.ms": "-1"})
            admin.create_topics([topic])[name].result(60)
        self.cluster.wait_until_whole()

    def _check_problems(self, verdict: Verdict) -> None:
        for writer in self.writers:
            for partition, number, why in writer.ledger.failed:
                verdict.note("failed", f"{writer.ledger.writer} {partition}:{number}: {why}")
        for each in (*self.bankers, *self.bridges):
            for why in each.fatal:
                verdict.note("fatal", f"{each.name}: {why}")
        for each in self._everybody():
            if each.problem is not None:
                verdict.note("problem", each.problem)
        for child in self.cluster.children.values():
            with contextlib.suppress(FileNotFoundError):
                for line in Path(child.log).read_text(errors="replace").splitlines():
                    if line.startswith(("Traceback", "AssertionError")):
                        verdict.note("traceback", f"node {child.id}: {child.log}")
