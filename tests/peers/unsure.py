"""A node whose leaders do not know what is committed for as long as a file is there: as after a crash of all nodes.

It is `andiron up` in a process of its own, with one property of leaders replaced. Each time that a leader is asked and
does not know, a byte is added to the file, so that a test sees that clients were told.
"""

from __future__ import annotations

import sys
from pathlib import Path

from andiron.cli.start import main
from andiron.replication.leader import LeaderReplica
from peers.node import Node

TESTS = Path(__file__).parents[1]
BEGIN = "import sys; sys.path.append(sys.argv.pop(1)); from peers.unsure import begin; begin(sys.argv.pop(1))"


class UnsureNode(Node):
    """`forget()` and it knows nothing of what is committed until `remember()`."""

    @property
    def _file(self) -> Path:
        return self.folder / "forgets"

    def command(self) -> list[str]:
        return [sys.executable, "-c", BEGIN, str(TESTS), str(self._file), *super().command()[3:]]

    def forget(self) -> None:
        self._file.write_bytes(b"")

    def remember(self) -> None:
        self._file.unlink(missing_ok=True)

    @property
    def asked(self) -> int:
        """How often it was asked since it forgot."""
        return self._file.stat().st_size


def begin(path: str) -> None:
    """Be such a node."""
    file, known = Path(path), LeaderReplica.knows_committed

    def knows_committed(leader: LeaderReplica) -> bool:
        if not file.exists():
            return bool(known.fget(leader))  # type: ignore[attr-defined]
        with file.open("ab") as asked:
            asked.write(b".")
        return False

    def can_tell(leader: LeaderReplica, offset: int) -> bool:
        return leader.knows_committed

    LeaderReplica.knows_committed = property(knows_committed)  # type: ignore[assignment,method-assign]
    LeaderReplica.can_tell = can_tell  # type: ignore[assignment,method-assign]
    main()
