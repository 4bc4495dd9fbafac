"""A query's progress, told to a consumer group: so that lag tools see Spark as they see any consumer.

    batch done ──▶ latestOffset(start = what is done) ──▶ OffsetCommit(group, start)

Spark asks a source for the latest offset once more after every finished batch, also after the last one of
`Trigger.AvailableNow`, and hands in how far the query has come. That is the moment: `commit` of the source
lags a batch behind, and is never called for the last one.

The group is a mirror and nothing is ever read from it: a query's own offsets are in its checkpoint. So
nothing that goes wrong here may stop the query. It is warned of once, and tried again a little later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.settings import ClientSettings
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.model.line import Line

PATIENCE_MS = 5_000  # a batch waits no longer than this for its mirror
PAUSE_S = 10.0

log = logging.getLogger(__name__)


class GroupProgress:
    """The offsets of one group, kept equal to what a query has done."""

    def __init__(
        self,
        group: str,
        bootstrap: str,
        settings: ClientSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        patience_ms = min(settings.default_api_timeout_ms, PATIENCE_MS)
        self.group = group
        self._client = Client(bootstrap, replace(settings, default_api_timeout_ms=patience_ms))
        self._admin = GroupAdmin(self._client)
        self._clock = clock
        self._told: dict[TopicPartition, int] | None = None
        self._not_before = 0.0
        self._warned = False

    def mirror(self, done: Mapping[TopicPartition, int]) -> None:
        """Tell the group how far the query has come, unless it knows."""
        if not done or done == self._told or self._clock() < self._not_before:
            return
        try:
            self._admin.commit(self.group, done)
        except AndironError as error:
            self._not_before = self._clock() + PAUSE_S
            if not self._warned:
                log.warning(Line(
                    "Progress is not mirrored into group {group}; the query goes on",
                    group=self.group, error=error,
                ))  # fmt: skip
                self._warned = True
            return
        self._told, self._warned = dict(done), False

    def close(self) -> None:
        """Hang up."""
        self._client.close()
