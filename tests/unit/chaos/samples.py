"""A cell as it might have gone, for whatever draws or tells it."""

from __future__ import annotations

from andiron.chaos.account import Latency, Silence, settle
from andiron.chaos.cells import Cell
from andiron.chaos.experiment import Marks, Outcome
from andiron.chaos.rebalance import Scaling
from andiron.chaos.records import FoundRecord, SentRecord
from andiron.chaos.timeline import PartitionGlimpse
from andiron.chaos.verdict import judge

MARKS = Marks(harmed=2.0, out_of_isr=4.5, cut=6.0, killed=7.0, mended=9.0, restarted=11.0, whole=13.0)
GLIMPSES = [
    PartitionGlimpse(0.1, 1, (1, 2, 3)),
    PartitionGlimpse(4.5, 1, (1, 3)),
    PartitionGlimpse(7.5, 3, (3,)),
    PartitionGlimpse(12.9, 3, (1, 2, 3)),
]
SCALING = Scaling("eager", 500.0, {0: 20.0, 1: 480.0}, {0: 30.0, 1: 510.0, 2: 505.0}, [1])


def outcome(acks: str = "1", lost: int = 2) -> Outcome:
    """Ten records, of which the last few are lost."""
    cell = Cell(acks, 2, False)
    sent = [SentRecord(0, number, float(number), number + 0.004, 100 + number) for number in range(10)]
    account = settle(sent, [FoundRecord(0, number, 100 + number) for number in range(10 - lost)])
    times = Latency(3, 4.0, 5.0, 6.0)
    quiet = [Silence(6.9, 8.4)]
    return Outcome(
        cell, "kill -9", 1, 2, MARKS, GLIMPSES, sent, account, times, times, None, quiet, judge(cell, account)
    )
