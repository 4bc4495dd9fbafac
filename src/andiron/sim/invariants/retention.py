"""Records go when they may: deleted by request, too old, or too many; and then they stay gone.

start moves     to what DeleteRecords asked for, or over whole segments that retention.ms or retention.bytes
                allow to go, and never beyond the watermark; records without a timestamp are as old as
                their coming, unless one with a timestamp went with them
after a stop    it is where it was
after a crash   it is nowhere before what a client was told is deleted, on any replica that was there then; what
                retention took since the last checkpoint may come back, as in Kafka
on followers    it moves on with their leader's, or by the same rules; where a follower begins anew, to where that is
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.model.ids import NodeId, wall_time
from andiron.sim.canon import Place
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

DUE = "records go when they may"
STAYS = "a log's start is kept"


class DeletionIsDue(Watcher):
    """Looks whenever a log's start has moved."""

    def __init__(self, mirrors: Mirrors, checkpoint_ms: int) -> None:
        """`checkpoint_ms` is how often a node writes down where its logs start."""
        self._mirrors, self._checkpoint_ms = mirrors, checkpoint_ms
        self._asked: dict[Key, int] = {}  # by DeleteRecords, at most
        self._promised: dict[Key, int] = {}  # the start that a client was told of: no crash takes it back
        self._seen: dict[Key, None] = {}  # in this life of their node
        self._bad_at: dict[int, int] = {}  # when a host's disk last refused things
        self._led: dict[Place, int] = {}  # the highest start that a leader had
        self._came: dict[
            Key, dict[int, int]
        ] = {}  # ends of logs, and the time when they were seen there first

    def heard(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.DELETE_RECORDS:
            return
        assert host.node is not None
        for topic in exchange.body.topics:
            for wanted in topic.partitions:
                partition = host.node.broker.replica_manager.peek((topic.name, wanted.partition_index))
                if partition is not None:
                    key = key_of(host, partition)
                    upto = partition.watermark if wanted.offset < 0 else wanted.offset
                    self._asked[key] = max(self._asked.get(key, 0), upto)
                    exchange.notes[key] = partition, upto

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.DELETE_RECORDS:
            return
        for topic in exchange.response.topics:
            for result in topic.partitions:
                for partition, upto in exchange.notes.values():
                    if result.error_code == 0 and not partition.retired and partition.log.start < upto:
                        raise Violation(
                            STAYS, f"{partition.name} starts at {partition.log.start}, not {upto}"
                        )
                    if result.error_code == 0:
                        self._promise(host, partition, upto)

    def _promise(self, host: Host, partition: Partition, upto: int) -> None:
        assert host.node is not None
        image, place = host.node.broker.image, (partition.topic_id, partition.name.partition)
        live = [number for number in host.world.hosts if image.is_live(NodeId(number))]
        for key in [(number, *place) for number in live if (number, *place) in self._seen]:
            mirror = self._mirrors.get(key)
            if key[0] == host.number or (mirror is not None and mirror.start >= upto):
                self._promised[key] = max(self._promised.get(key, 0), upto)

    def went_down(self, host: Host, end: End) -> None:
        can_be_written = end is End.STOPPED and not host.disk.is_bad
        for key in [key for key in self._seen if key[0] == host.number]:
            del self._seen[key]
            self._came.pop(key, None)  # a listing of the disk does not tell
            mirror = self._mirrors.get(key)
            if mirror is None:
                continue  # moved to other nodes, and gone
            since = max(mirror.start_since, self._bad_at.get(host.number, 0))
            is_written = can_be_written or host.world.now - since >= 2 * self._checkpoint_ms
            mirror.start_bound = mirror.start if is_written else self._promised.get(key, 0)

    def stepped(self, host: Host) -> None:
        if host.disk.is_bad:
            self._bad_at[host.number] = host.world.now
        for partition in host.changed:
            key, start = key_of(host, partition), partition.log.start
            mirror = self._mirrors.of(host, partition)
            self._came.setdefault(key, {}).setdefault(partition.log.end, wall_time(host.clock.now()))
            if key not in self._seen:
                self._seen[key] = None
                bound = mirror.start_bound
                if start < bound <= mirror.end:
                    raise Violation(STAYS, f"{mirror.name} started at {bound}; after a restart at {start}")
            elif start != mirror.start and not self._may_follow(partition, mirror):
                self._check_due(host, partition, mirror)
            if partition.leads and len(host.world.hosts) > 1:
                self._led[key[1:]] = max(self._led.get(key[1:], 0), start)
            if start < self._promised.get(key, 0):
                self._promised[key] = start  # it began anew, as its leader's log wanted it
            if start != mirror.start:
                mirror.advance(start)
                mirror.start_since = host.world.now

    def _may_follow(self, partition: Partition, mirror: Mirror) -> bool:
        """Whether a follower's log starts where its leader's may have, or began anew."""
        start = partition.log.start
        led = self._led.get((partition.topic_id, partition.name.partition), -1)
        return not partition.leads and (start <= led or start < mirror.start)

    def _check_due(self, host: Host, partition: Partition, mirror: Mirror) -> None:
        log, settings = partition.log, partition.log.settings
        if not mirror.start < log.start <= partition.watermark:
            raise Violation(DUE, f"{mirror.name} started at {mirror.start}, and now at {log.start}")
        asked = self._asked.get(key_of(host, partition), 0)
        if log.start <= asked:
            return
        if "delete" not in settings.cleanup_policy:
            raise Violation(DUE, f"{mirror.name} is never to be deleted from; now it starts at {log.start}")
        left = sum(segment.size for segment in log.segments)
        if 0 <= settings.retention_bytes <= left:
            return
        oldest = wall_time(host.clock.now()) - settings.retention_ms
        gone = [offset for offset in range(max(mirror.start, asked), log.start) if offset in mirror.live]
        times = [mirror.records[offset].timestamp for offset in gone]
        if all(time < 0 for time in times):
            came = self._came[key_of(host, partition)]
            times = [came.get(min((end for end in came if end > offset), default=-1), 0) for offset in gone]
        for offset, time in zip(gone, times, strict=True):
            if settings.retention_ms < 0 or time >= oldest:
                raise Violation(DUE, f"{mirror.name}: {offset} was not old enough to be deleted")
