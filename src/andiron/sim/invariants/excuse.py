"""What a power loss may cost: of a node by itself, and of several that hold the same partitions.

by itself    A log that is not synced loses its end with the power, each log another one: a transaction may be
             forgotten by its coordinator and not by those it wrote to. With one replica and no flush policy nobody has
             promised anything else.
in a cluster What is committed lies on every in-sync replica, so the power of some of them may go, and nothing is lost.
             A partition is excused only when at one time
                 all of its in-sync and eligible replicas had come to a bad end (killed, or without power), and
                 one of them at least has thereby lost something that was committed
             since a controller cannot tell who of them has lost something, and must let one of them lead. Each counts
             from its end until it has registered anew, is in sync again and has all that is committed.
never        what was synced before anything was said (flush.messages=1), on a topic that always was so; the metadata;
             and a node that was stopped, paused, cut off or late.

A leader that had asked to be the only one in sync before its power went, and is granted that after, is in the same
place; so is one that is elected, or the last that is left in sync, before the controller can know of its end. The
in-sync replicas are looked at again when they change so. But to elect one that has lost something, and is known to
have come to a bad end, where another has not, is the fault that is looked for.

What lies in several logs, and was to fit together, is excused with any one of them (`is_given`).

Compaction may cost something too, as in Kafka. A replica that was away for longer than delete.retention.ms finds the
tombstones gone that were written meanwhile, and keeps what they delete; when it leads, the members and offsets of a
group come to life again. Such groups are excused (`has_revived`): those of which the new leader has a record, and
never had the tombstone that was its key's last word, and was committed that long ago.
"""

from __future__ import annotations

from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS
from andiron.broker.replicas.partition import Partition
from andiron.controller.image import PartitionImage
from andiron.groups.records import decode_record
from andiron.sim.canon import Canons, Place
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirrors, key_of
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Watcher


class Excuse(Watcher):
    """Whether what was committed may be lost, and what lies in several logs not fit together any more."""

    def __init__(
        self, mirrors: Mirrors, newest: Newest, canons: Canons | None = None, *, durable: bool
    ) -> None:
        """`durable`: every log is synced before anything is said. `canons` are for those who are not alone."""
        self._mirrors, self._newest, self._canons, self._durable = mirrors, newest, canons, durable
        self.is_given = False
        self._applied = -1
        self._ended: dict[
            int, int
        ] = {}  # nodes that came to a bad end: the epoch under which they were registered
        self._doubts: dict[tuple[int, Place], int] = {}  # what they lost something of: in which leader epoch
        self._led: dict[Key, int] = {}  # partitions of groups whose leaders were looked at: in which epoch
        self._revived: dict[str, None] = {}

    def went_down(self, host: Host, end: End) -> None:
        if self._canons is None:
            self.is_given = self.is_given or (end is End.POWER_LOST and not self._durable)
        elif end is not End.STOPPED:
            self._ended_badly(host, power_lost=end is End.POWER_LOST)

    def lost_power(self, host: Host) -> None:
        if self._canons is None:
            self.is_given = self.is_given or not self._durable
        else:
            self._ended_badly(host, power_lost=True)

    def has_revived(self, group_id: str) -> bool:
        """Whether a coordinator has found what was deleted of a group, having missed that it was."""
        return group_id in self._revived

    def stepped(self, host: Host) -> None:
        if self._canons is not None:
            for partition in self._newest.concerned(host):
                if partition.leads and partition.name.topic == OFFSETS:
                    self._look_for_revived(host, partition)
        if self._newest.applied > self._applied:
            self._applied = self._newest.applied
            for (_, place), epoch in list(self._doubts.items()):
                told = self._newest.partition(place)
                if told is not None and (told.leader_epoch == epoch or not self._is_known(told)):
                    self._weigh(place, told)

    # ── in a cluster ─────────────────────────────────────────────────────────────────

    def _ended_badly(self, host: Host, *, power_lost: bool) -> None:
        assert self._canons is not None
        broker = self._newest.broker(host.number)
        self._ended[host.number] = -1 if broker is None else broker.epoch
        for place, canon in self._canons.items():
            told, mirror = self._newest.partition(place), self._mirrors.get((host.number, *place))
            if told is None or mirror is None:
                continue
            if power_lost and mirror.kept < min(mirror.end, canon.end) and not mirror.always_durable:
                self._doubts[host.number, place] = told.leader_epoch
            self._weigh(place, told)

    def _look_for_revived(self, host: Host, partition: Partition) -> None:
        """Once, when a node begins to lead what groups live in."""
        assert self._canons is not None
        key, mirror = key_of(host, partition), self._mirrors.of(host, partition)
        if mirror.fell is not None or self._led.get(key) == partition.epoch:
            return
        self._led[key] = partition.epoch
        strayed_ms = sum(each.clock.strayed_ms for each in host.world.hosts.values())
        spent_before = host.world.now - mirror.delete_retention_ms + strayed_ms
        for tombstone in self._canons.of(partition).outlived(mirror, spent_before):
            record = decode_record(tombstone.key, None)
            if record is not None:
                self._revived[getattr(record.key, "group_id", None) or record.key.group] = None

    def _weigh(self, place: Place, told: PartitionImage) -> None:
        """Are all of those who could lead in doubt, and did one of them lose something?"""
        assert self._canons is not None
        members = [*told.isr, *told.elr, *told.last_known_elr]
        if not all(self._is_suspect(member, place) for member in members):
            return
        if any((member, place) in self._doubts and not self._is_whole(member, place) for member in members):
            self._canons[place].is_excused = self.is_given = True

    def _is_known(self, told: PartitionImage) -> bool:
        """Whether the controller knows of the bad end of one that it has in sync."""
        for member in told.isr:
            broker = self._newest.broker(member)
            if broker is None or broker.fenced or broker.epoch != self._ended.get(member):
                return True
        return False

    def _is_suspect(self, node: int, place: Place) -> bool:
        """Whether a node has come to a bad end, and is not known to have recovered from it."""
        if node not in self._ended:
            return False
        broker = self._newest.broker(node)
        has_registered = broker is not None and broker.epoch != self._ended[node]
        return not (has_registered and self._is_whole(node, place))

    def _is_whole(self, node: int, place: Place) -> bool:
        assert self._canons is not None
        mirror = self._mirrors.get((node, *place))
        return mirror is not None and mirror.fell is None and mirror.end >= self._canons[place].end
