"""The plots of a report: who was in sync, how long writes took, how long none was taken."""

from __future__ import annotations

from collections.abc import Sequence

from andiron.chaos.account import quantile
from andiron.chaos.experiment import Outcome
from andiron.chaos.svg import BOTTOM, LEFT, TOP, Frame
from andiron.chaos.timeline import PartitionGlimpse

WIDTH = 860
LANE = 26
BIN_S = 0.25
NODES = (1, 2, 3)


def in_sync(outcome: Outcome) -> str:
    """A lane for each node: in the ISR, leading, or neither."""
    end = _end(outcome)
    frame = Frame(WIDTH, TOP + BOTTOM + LANE * len(NODES), (0.0, end))
    frame.seconds()
    for lane, node in enumerate(NODES):
        top = TOP + lane * LANE
        frame.text(LEFT - 6, top + LANE / 2 + 4, f"node {node}", "end")
        for begin, until, glimpse in _spans(outcome.glimpses, end):
            leads, kept = glimpse.leader == node, node in glimpse.isr
            kind = "leads" if leads else "follows" if kept else "out"
            told = "leads" if leads else "in the ISR" if kept else "out of the ISR"
            frame.box(
                frame.x(begin), top + 3, frame.x(until), top + LANE - 3, kind, f"{told}, from {begin:.1f} s"
            )
    _marks(frame, outcome)
    return frame.render(f"ISR of {outcome.cell.name} over time")


def latency(outcome: Outcome) -> str:
    """p50 and p99 of the records that were due in each quarter of a second, on a logarithmic scale."""
    end = _end(outcome)
    bins: dict[int, list[float]] = {}
    for each in outcome.sent:
        if each.acked_at is not None:
            took = max(0.1, 1000 * (each.acked_at - each.sent_at))
            bins.setdefault(int(each.sent_at / BIN_S), []).append(took)
    frame = Frame(WIDTH, 220, (0.0, end), (1.0, 20_000.0), log=True)
    frame.seconds()
    frame.values([1, 10, 100, 1000, 10_000], "ms")
    for silence in outcome.quiet:
        told = f"no write accepted for {silence.seconds:.1f} s"
        frame.box(frame.x(silence.begin), TOP, frame.x(silence.end), 220 - BOTTOM, "silence", told)
    times = {at: sorted(values) for at, values in sorted(bins.items())}
    frame.path([(at * BIN_S, quantile(values, 0.99)) for at, values in times.items()], "p99")
    frame.path([(at * BIN_S, quantile(values, 0.5)) for at, values in times.items()], "p50")
    frame.dots([(each.acked_at, 1.5) for each in outcome.account.lost if each.acked_at is not None], "lost")
    _marks(frame, outcome)
    return frame.render(f"latency of {outcome.cell.name} over time")


def unavailability(outcomes: Sequence[Outcome]) -> str:
    """One bar a cell: the longest time without an accepted write."""
    spans = [each.unavailable.seconds if each.unavailable else 0.0 for each in outcomes]
    label = 240
    frame = Frame(WIDTH, 16 + LANE * len(outcomes), (0.0, max([*spans, 1.0])))
    scale = (WIDTH - label - 90) / max([*spans, 1.0])
    for row, (outcome, seconds) in enumerate(zip(outcomes, spans, strict=True)):
        top = 8 + row * LANE
        frame.text(label - 8, top + LANE / 2 + 4, outcome.cell.name, "end")
        frame.box(label, top + 4, label + seconds * scale, top + LANE - 4, "silence-bar")
        frame.text(label + seconds * scale + 6, top + LANE / 2 + 4, f"{seconds:.1f} s")
    return frame.render("the longest time without an accepted write, by cell")


def _end(outcome: Outcome) -> float:
    return max([outcome.marks.whole, *(each.acked_at or 0.0 for each in outcome.sent[-50:])])


def _spans(glimpses: Sequence[PartitionGlimpse], end: float) -> list[tuple[float, float, PartitionGlimpse]]:
    """Each glimpse with the time in which it held."""
    begins = [0.0, *(each.at for each in glimpses[1:])]
    ends = [*begins[1:], end]
    return list(zip(begins, ends, glimpses, strict=False))


def _marks(frame: Frame, outcome: Outcome) -> None:
    marks = outcome.marks
    frame.mark(marks.harmed, f"node {outcome.follower} harmed")
    frame.mark(marks.cut, "", 0)
    frame.mark(marks.killed, f"node {outcome.leader} killed")
    frame.mark(marks.mended, f"{outcome.follower} mended")
    frame.mark(marks.restarted, f"{outcome.leader} started")
