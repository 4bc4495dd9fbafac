"""One cell, from the first record to the account: the six steps of the failure injection, the first five of them.

    load ── before ──┬── one follower harmed ── it leaves the ISR ──┬── the leader's wires cut, a second later ──┬─ …
                     1                                              2   kill -9                                  3
    … ── the follower is mended ── the leader is started again ── all in sync ── load ends ── everything is read back

Before the leader is killed, nothing that it takes in reaches its followers for a second. That is where acks=1 is seen
for what it is: those records were acknowledged, and are nowhere else. The other follower is in the ISR at that time, so
that it can take over; were the leader alone in it, nobody would lead until it is back, and nothing would be lost. All
of this is done in every cell, so that they differ in nothing but how they write.

A follower that is harmed is so still when the leader dies, as in the incident that this is modelled on: with
min.insync.replicas=2 there is then nobody to write to until it is mended.

Read next: account.py for what is made of it; rebalance.py for the sixth step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from andiron.chaos.account import Account, Latency, Silence, latency, longest, settle, silences
from andiron.chaos.cells import Cell
from andiron.chaos.cluster import ChaosCluster
from andiron.chaos.faults import Fault
from andiron.chaos.load import Load, make_topic, read_back
from andiron.chaos.proxy import HOST
from andiron.chaos.records import SentRecord
from andiron.chaos.timeline import PartitionGlimpse, Timeline
from andiron.chaos.verdict import Verdict, judge

CUT_S = (
    1.0  # less than replica.lag.time.max.ms: followers stay in the ISR that have heard nothing for so long
)
SHRINK_S_MAX = 20.0
SILENCE_S_MIN = 0.25


class Marks(NamedTuple):
    """When what was done, in seconds since the cell began."""

    harmed: float
    out_of_isr: float | None  # None: it stayed
    cut: float
    killed: float
    mended: float
    restarted: float
    whole: float


class Outcome(NamedTuple):
    """All that is known of a cell."""

    cell: Cell
    fault: str
    leader: int
    follower: int
    marks: Marks
    glimpses: list[PartitionGlimpse]
    sent: list[SentRecord]
    account: Account
    before: Latency | None
    during: Latency | None
    after: Latency | None
    quiet: list[Silence]
    verdict: Verdict

    @property
    def unavailable(self) -> Silence | None:
        """The longest time without an accepted write after the leader was cut off."""
        return longest([each for each in self.quiet if each.end > self.marks.cut])


class Experiment:
    """Runs cells on a cluster, one after the other."""

    def __init__(
        self,
        cluster: ChaosCluster,
        fault: Fault,
        seconds: float,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._cluster, self._fault, self._seconds, self._say = cluster, fault, seconds, say

    def run(self, cell: Cell) -> Outcome:
        """Play one cell; the cluster is whole before and after."""
        cluster = self._cluster
        partition = make_topic(cluster.bootstrap, cell.topic, 1, cell.topic_settings())[0]
        cluster.wait_until_whole()
        led = cluster.partition(partition.topic)
        follower, heir = [each for each in led.replicas if each != led.leader]
        load = Load(cluster.bootstrap, partition, cell.acks)
        addresses = {id: f"{HOST}:{ports.clients_told}" for id, ports in cluster.ports.items()}
        timeline = Timeline(addresses, partition, load.began)
        timeline.start()
        load.start()
        try:
            marks = self._harm(load, timeline, led.leader, follower, heir)
        except BaseException:
            load.stop(0.0)  # whoever is still writing would wait for what is not mended any more
            raise
        finally:
            timeline.stop()
        load.stop()
        self._say("reading everything back")
        account = settle(load.sent, read_back(cluster.bootstrap, partition))
        sent, over = load.sent, load.now()
        return Outcome(
            cell=cell,
            fault=self._fault.told,
            leader=led.leader,
            follower=follower,
            marks=marks,
            glimpses=timeline.glimpses,
            sent=sent,
            account=account,
            before=latency(sent, min(0.5, marks.harmed / 2), marks.harmed),
            during=latency(sent, marks.harmed, marks.cut),
            after=latency(sent, marks.cut, over),
            quiet=silences(sent, 0.0, marks.whole, SILENCE_S_MIN),
            verdict=judge(cell, account),
        )

    def _harm(self, load: Load, timeline: Timeline, leader: int, follower: int, heir: int) -> Marks:
        cluster, fault, seconds = self._cluster, self._fault, self._seconds
        self._say(f"load on a healthy cluster, node {leader} leads")
        time.sleep(seconds)
        harmed = load.now()
        self._say(f"node {follower}, a follower: {fault.told}")
        timeline.harmed[follower] = None
        fault.strike(cluster, follower)
        out = load.now() if timeline.wait_until_out(follower, SHRINK_S_MAX) else None
        self._say("it has left the ISR" if out is not None else "it has NOT left the ISR")
        time.sleep(seconds)
        if not timeline.wait_until_in(heir, SHRINK_S_MAX):
            self._say(f"node {heir} is not in the ISR either: nobody can take over")
        cut = load.now()
        timeline.harmed[leader] = None
        cluster.cut_off(leader)
        time.sleep(CUT_S)
        self._say(f"node {leader}, the leader: kill -9")
        cluster.kill_with_wires(leader)
        killed = load.now()
        cluster.heal(leader)
        time.sleep(seconds)
        self._say(f"node {follower} is mended")
        fault.mend(cluster, follower)
        mended = load.now()
        time.sleep(seconds)
        self._say(f"node {leader} is started again")
        cluster.start(leader)
        restarted = load.now()
        cluster.wait_until_whole()
        timeline.harmed.clear()
        whole = load.now()
        time.sleep(min(1.0, seconds))
        return Marks(harmed, out, cut, killed, mended, restarted, whole)
