"""What a cell has shown: whether it is what it had to show."""

from __future__ import annotations

from typing import NamedTuple

from andiron.chaos.account import Account
from andiron.chaos.cells import Cell, ExpectedOutcome


class Verdict(NamedTuple):
    """One line, and whether the run may be called good with it."""

    good: bool
    text: str


def judge(cell: Cell, account: Account) -> Verdict:
    """acks=all must lose nothing, whatever else was set; less must lose something, or the harness proves nothing."""
    told = f"{len(account.lost):,} of {account.acked:,} acknowledged records lost"
    if not account.acked:
        return Verdict(False, "nothing was acknowledged: nothing is proved")
    if cell.expected is ExpectedOutcome.SAFE:
        if account.lost:
            return Verdict(False, f"{told}: NOT SAFE")
        if account.duplicated or account.reordered:
            copies, order = len(account.duplicated), len(account.reordered)
            return Verdict(
                False, f"{told}, but {copies:,} twice and {order:,} out of order, of idempotent producers"
            )
        return Verdict(True, f"{told}: SAFE")
    if not account.lost:
        return Verdict(False, f"{told}: the harness has not shown what it is meant to")
    return Verdict(True, f"{told}: as it must be")
