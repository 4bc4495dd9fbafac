"""Groups through aiokafka, which commits no leader epochs and administers little."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Mapping
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from peers.clients.base import Refused
from peers.groups.base import Committed, Groups, Place

Answer = TypeVar("Answer")


class AioKafkaGroups(Groups):
    """Its consumer, and the one call of its admin client that still agrees with today's brokers."""

    tells_epochs = False

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        async def commit() -> None:
            async with self._consumer(group) as consumer:
                consumer.assign([TopicPartition(*place) for place in offsets])
                await consumer.commit(
                    {TopicPartition(*place): (at.offset, at.metadata) for place, at in offsets.items()}
                )

        _run(commit())

    def list_offsets(self, group: str) -> dict[Place, Committed]:
        async def ask() -> Any:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
            await admin.start()
            try:
                return await admin.list_consumer_group_offsets(group)
            finally:
                await admin.close()

        return {tuple(place): Committed(at.offset, at.metadata) for place, at in _run(ask()).items()}

    def committed(self, group: str, places: Collection[Place]) -> dict[Place, Committed]:
        """It tells a consumer the offset alone, so the metadata comes from the list of all."""

        async def ask() -> dict[Place, int | None]:
            async with self._consumer(group) as consumer:
                return {place: await consumer.committed(TopicPartition(*place)) for place in places}

        listed = self.list_offsets(group)
        found = {place: offset for place, offset in _run(ask()).items() if offset is not None}
        return {place: Committed(offset, listed[place].metadata) for place, offset in found.items()}

    def _consumer(self, group: str) -> AIOKafkaConsumer:
        settings = {"group_id": group, "enable_auto_commit": False}
        return AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **settings)


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except KafkaError as error:
        raise Refused(getattr(error, "errno", -1), f"{type(error).__name__}: {error}") from error
