"""Those who watch a world: they are told what happens, and cry out when it should not have.

    heard      a request is about to be given to a node
    stepped    a node has taken a step
    said       a reply leaves a node: from here on it is a promise, whether or not it arrives
    leaves     a node is told to stop, and has done nothing about it yet
    went_down  a node is gone, and how
    lost_power the machine has lost power while no node was up
    came_up    a node is ready again
    rested     nothing is under way: time for what is too slow to be asked after every step

A watcher looks into a node but never touches it. Reading through the node's own read path would
leave marks there and hide the faults it should find, so watchers read the disk by themselves.

One that fails over what it is told has a fault of its own (`ASKED`), for which no node is blamed (`World.tell`).

Read next: invariants/, a class each.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from andiron.sim.exchange import Exchange
    from andiron.sim.host import Host


ASKED = "every law can be asked"  # one that fails says nothing, and that is not to pass for a yes


class Violation(Exception):
    """Something happened that must not; `law` names what it breaks."""

    def __init__(self, law: str, how: str) -> None:
        super().__init__(law, how)
        self.law, self.how = law, how

    def __str__(self) -> str:
        return f"{self.law}: {self.how}"


class End(enum.Enum):
    """How a node came to its end, and what that may cost."""

    STOPPED = "stopped"  # nothing
    KILLED = "killed"  # nothing that was written
    POWER_LOST = "power lost"  # what was not synced


class Watcher:
    """Watches, and does nothing about it."""

    def heard(self, host: Host, exchange: Exchange) -> None:
        """A request is about to be given to a node."""

    def stepped(self, host: Host) -> None:
        """A node has taken a step."""

    def said(self, host: Host, exchange: Exchange) -> None:
        """A reply leaves a node."""

    def leaves(self, host: Host) -> None:
        """A node is told to stop, and has done nothing about it yet."""

    def went_down(self, host: Host, end: End) -> None:
        """A node is gone; its disk is as it left it, before the power loss if it is one."""

    def lost_power(self, host: Host) -> None:
        """The power has gone while no node was up."""

    def came_up(self, host: Host) -> None:
        """A node is ready to serve."""

    def is_restless(self, host: Host) -> bool:
        """Whether something must still happen before all is at rest."""
        return False

    def rested(self, host: Host) -> None:
        """Nothing is under way."""
