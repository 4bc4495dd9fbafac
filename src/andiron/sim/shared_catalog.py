"""The catalog of a cluster, where a change may take effect long after whoever asked for it has given up.

    admin ──▶ node-1 ─ ─ ─ underway to the controller ─ ─ ─▶ takes effect, or not
          ──▶ node-2 ──▶ the controller ──▶ acknowledged

A request that one node passes on to another may be overtaken by a later one. So a change that was asked for and not
answered stays loose: it may happen at any time from now on. What is shown is so, and what else may come to be follows
from that by the changes that are loose.

Read next: catalog.py, for one node by itself, where a change is over with the node.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode, Retriable
from andiron.sim.catalog import AskedChange, Catalog, Change, State

_ECHOES = (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.INVALID_PARTITIONS)


class SharedCatalog(Catalog):
    """The states in which each topic may be, with changes that are loose."""

    def __init__(self) -> None:
        super().__init__()
        self._settled: dict[str, list[State]] = {}
        self._loose: dict[str, list[AskedChange]] = {}

    def possible(self, topic: str) -> list[State]:
        settled = self._settled.get(topic, [None])
        return _reachable(settled, [asked.change for asked in self._loose.get(topic, ())])

    @property
    def topics(self) -> list[str]:
        return list(self._loose)

    def heard(self, topic: str, change: Change) -> AskedChange:
        self._changes[topic] = count = self._changes.get(topic, 0) + 1
        asked = AskedChange(topic, change, [], count)
        self._loose.setdefault(topic, []).append(asked)
        return asked

    def said(self, asked: AskedChange, code: ErrorCode) -> None:
        loose, topic = self._loose[asked.topic], asked.topic
        if code.remedy is not None and issubclass(code.remedy, Retriable):
            return
        if asked in loose:
            loose.remove(asked)
        if code not in (ErrorCode.NONE, *_ECHOES):
            return
        before = self.possible(topic)
        # A later one may have come first; or it is so already, perhaps since it was passed on twice.
        if self._changes[topic] != asked.number or code in _ECHOES:
            before = [*before, *map(asked.change, before)]
        else:
            before = list(map(asked.change, before))
        self._settled[topic] = list(dict.fromkeys(before))

    def shown(self, topic: str, actual: State) -> None:
        self._settled[topic] = [actual]

    def found(self, topic: str, actual: State) -> None:
        """All is at rest, so nothing is loose."""
        self._settled[topic] = [actual]
        self._loose[topic] = []


def _reachable(states: list[State], changes: list[Change]) -> list[State]:
    """What these states may become by some of the changes, in any order."""
    found = dict.fromkeys(states)
    for _ in changes:
        known = len(found)
        for state in list(found):
            found.update(dict.fromkeys(change(state) for change in changes))
        if len(found) == known:
            break
    return list(found)
