"""What comes out of the orders pipeline, told in a few lines whenever it has changed.

    12:31:07   3,301 notifications, 1,204 orders updated, 12 dead letters since the start
      revenue     12:30  EUR 1,204.50 (31)   GBP 870.00 (22)   USD 1,020.10 (27)
      latest      0a1b2c-0000412 shipped, 45.99 EUR
      notified    Ada Abbot by mail: your order 0a1b2c-0000412 of 45.99 EUR is shipped
      dead letter orders-1 at 2034: not JSON

It reads what everybody can read: the topics that the pipeline writes, committed records only, from where they ended
when the run began. The sums of a window are those of its newest record, as in any compacted topic.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.reader import Reader
from andiron.client.core.descriptions import LATEST
from andiron.client.core.positions import Position
from andiron.client.settings import ClientSettings
from andiron.model.errors import Retriable
from andiron.model.ids import TopicPartition
from andiron.records.record import Record
from andiron.spark.frames.dead_letters import OFFSET, PARTITION, REASON, TOPIC

if TYPE_CHECKING:
    from job import Settings

EVERY_S = 3.0
FIRST_S = 0.5  # until something of each reader was told
WINDOWS_SHOWN = 2
PATIENT = ClientSettings(default_api_timeout_ms=2_000)


class Outputs:
    """The outputs of a run, from its beginning on."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = Client(settings.bootstrap, PATIENT)
        self._of_readers = (settings.revenue_topic, settings.latest_topic, settings.notifications_topic)
        topics = (*self._of_readers, settings.dead_letters_topic)
        self._reader = Reader(self._client, _ends(self._client, topics), committed=True)
        self._counts: Counter[str] = Counter()
        self._windows: dict[str, dict[str, str]] = {}
        self._newest: dict[str, str] = {}
        self._told_at_s = 0.0
        self._has_told_all = False
        self._changed = False

    def changes(self) -> list[str]:
        """A few lines if something has changed since they were told last, and that is a while ago."""
        self._take_in()
        now_s = time.monotonic()
        every_s = EVERY_S if self._has_told_all else FIRST_S
        if not self._changed or now_s - self._told_at_s < every_s:
            return []
        self._told_at_s, self._changed = now_s, False
        self._has_told_all = all(self._counts[topic] for topic in self._of_readers)
        return self._lines()

    def _take_in(self) -> None:
        with contextlib.suppress(Retriable):  # a broker that is away for a moment comes back
            for partition, records in self._reader.poll(max_wait_ms=0):
                for record in records:
                    self._note(partition.topic, record)

    def _note(self, topic: str, record: Record) -> None:
        self._changed = True
        self._counts[topic] += 1
        settings = self._settings
        if topic == settings.dead_letters_topic:
            self._newest["dead letter"] = _dead_letter(record)
            return
        told = json.loads(record.value or b"{}")
        if topic == settings.revenue_topic:
            amount = f"{told['currency']} {_money(told['revenue_cents'])} ({told['orders_paid']:,})"
            self._windows.setdefault(told["window_start"], {})[told["currency"]] = amount
        elif topic == settings.latest_topic:
            self._newest["latest"] = (
                f"{told['order_id']} {told['status']}, {_money(told['amount'])} {told['currency']}"
            )
        else:
            self._newest["notified"] = f"{told.get('name')} by {told.get('channel')}: {told['text']}"

    def _lines(self) -> list[str]:
        settings, counts = self._settings, self._counts
        head = (
            f"{counts[settings.notifications_topic]:,} notifications, {counts[settings.latest_topic]:,} states of "
            f"orders, {counts[settings.dead_letters_topic]:,} dead letters since the start"
        )
        lines = [f"{time.strftime('%H:%M:%S')}   {head}"]
        for start in sorted(self._windows)[-WINDOWS_SHOWN:]:
            amounts = "   ".join(text for _, text in sorted(self._windows[start].items()))
            lines.append(f"  revenue     {start[11:16]}  {amounts}")
        lines += [f"  {what:<11} {told}" for what, told in sorted(self._newest.items(), reverse=True)]
        return lines


def _ends(client: Client, topics: tuple[str, ...]) -> Iterator[Position]:
    partitions = [
        TopicPartition(name, number)
        for name in topics
        for number in range(len(client.topic(name).partitions))
    ]
    for partition, found in Admin(client).list_offsets(dict.fromkeys(partitions, LATEST)).items():
        yield Position(partition, found.offset)


def _dead_letter(record: Record) -> str:
    headers: dict[str, Any] = {name: (value or b"").decode() for name, value in record.headers}
    return f"{headers.get(TOPIC)}-{headers.get(PARTITION)} at {headers.get(OFFSET)}: {headers.get(REASON)}"


def _money(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02}"
