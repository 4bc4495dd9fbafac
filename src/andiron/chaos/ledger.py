"""The ledger: all that a run has measured, as JSON, for whoever would rather compute than look.

Records are rows of [writer, number, due at, acknowledged at or null, offset], in seconds since their cell began.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

from andiron import __version__
from andiron.chaos.account import Latency
from andiron.chaos.experiment import Outcome
from andiron.chaos.rebalance import Scaling


def ledger(outcomes: Sequence[Outcome], scalings: Sequence[Scaling], notes: Sequence[str]) -> dict[str, Any]:
    """The whole run."""
    return {
        "andiron": __version__,
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "notes": list(notes),
        "cells": [_cell(each) for each in outcomes],
        "scaling": [
            {
                "kind": each.kind,
                "settled_ms": round(each.settled, 1),
                "pause_ms_by_partition": each.partitions,
                "pause_ms_by_member": each.members,
                "moved_partitions": each.moved,
            }
            for each in scalings
        ],
    }


def _cell(outcome: Outcome) -> dict[str, Any]:
    account, unavailable = outcome.account, outcome.unavailable
    return {
        "acks": outcome.cell.acks,
        "min.insync.replicas": outcome.cell.in_sync,
        "flush.messages": 1 if outcome.cell.fsync else None,
        "fault": outcome.fault,
        "leader": outcome.leader,
        "follower": outcome.follower,
        "good": outcome.verdict.good,
        "verdict": outcome.verdict.text,
        "marks": outcome.marks._asdict(),
        "isr": [{"at": each.at, "leader": each.leader, "isr": list(each.isr)} for each in outcome.glimpses],
        "latency_ms": {
            "before": _latency(outcome.before),
            "during": _latency(outcome.during),
            "after": _latency(outcome.after),
        },
        "unavailable": None if unavailable is None else unavailable._asdict(),
        "silences": [each._asdict() for each in outcome.quiet],
        "sent": account.sent,
        "acknowledged": account.acked,
        "found": account.found,
        "lost": [list(each) for each in account.lost],
        "loss_window": account.loss_window,
        "duplicated": [list(each) for each in account.duplicated],
        "reordered": [list(each) for each in account.reordered],
        "found_though_given_up": account.surprising,
        "records": [
            [each[0], each[1], *(_rounded(at) for at in each[2:4]), each[4]] for each in outcome.sent
        ],
    }


def _latency(found: Latency | None) -> dict[str, Any] | None:
    return None if found is None else {name: _rounded(value) for name, value in found._asdict().items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
