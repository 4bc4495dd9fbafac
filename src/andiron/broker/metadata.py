"""The cluster's metadata at this node: the log it lives in, who decides it, and what is committed.

    request ─▶ controller.decide ─▶ __cluster_metadata-0 ─(fsync, majority)─▶ watermark
                    │ replay                                                     │ replay
                    ▼                                                            ▼
             the controller's image: as appended                 the broker's image: as committed

Clients are told, and partitions made, from the committed image only. What has been applied
is a position in the log; `apply` reads on from there to the watermark and says what has
changed.

The log is an ordinary partition under the majority rule, durable before it counts. A node
that starts stands for election (quorum/quorum.py), begins its epoch with a record that says
so, as every leader does, and registers itself as a broker. Once that much is committed, so
is everything before it, and the node is ready.
"""

from __future__ import annotations

from collections.abc import Iterator

from andiron.broker.node_settings import NodeSettings
from andiron.broker.partition import Partition
from andiron.broker.shards import READ_BYTES, Shard, Wrote, batches_between, data_records
from andiron.controller.brokers import RegisterBroker
from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.features import SUPPORTED
from andiron.controller.image import Delta, Image
from andiron.controller.records import MetadataRecord, decode_record, encode_record
from andiron.log.disk import Disk
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.chance import Chance
from andiron.model.ids import LeaderEpoch, Millis, NodeId, Offset, TopicId, TopicPartition
from andiron.model.settings import MAX_LONG
from andiron.quorum.events import BecameLeader, LogEnd, Started
from andiron.quorum.quorum import Quorum
from andiron.quorum.records import encode_control
from andiron.quorum.settings import QuorumSettings
from andiron.quorum.voters import Voters
from andiron.records.batch import Batch
from andiron.records.control import control_batch
from andiron.replication.commit_rule import majority_watermark

NAME = TopicPartition("__cluster_metadata", 0)
TOPIC_ID = TopicId(bytes(15) + b"\x01")  # Kafka's fixed id of this topic
SETTINGS = LogSettings(flush_messages=1, retention_ms=-1, retention_bytes=-1, max_message_bytes=8 << 20)
FOLLOWER_LAG_MS_MAX = MAX_LONG  # voters are not dropped for being slow


class Metadata:
    """The metadata log of one node, the controller on it, and the image of what is committed."""

    partition: Partition
    shard: Shard[Controller]

    def __init__(self, settings: NodeSettings, disk: Disk, chance: Chance, wrote: Wrote) -> None:
        self._settings, self._disk, self._chance, self._wrote = settings, disk, chance, wrote
        self._me = NodeId(settings.node_id)
        self._ready_at = Offset(0)
        self.image = Image()
        self.applied = Offset(0)

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, log_dirs: tuple[bytes, ...], clean: bool, now: Millis) -> None:
        """Open the log, stand for election and register this broker; `clean` says how it last stopped."""
        directory = f"{self._settings.metadata_log_dir}/{NAME}"
        log = PartitionLog.open(self._disk, directory, NAME, TOPIC_ID, SETTINGS, now=now)
        self.partition = Partition(NAME, TOPIC_ID, log)
        self._quorum = Quorum(
            self._me, Voters(self._settings.voters), QuorumSettings(), self._chance,
            lambda: LogEnd(LeaderEpoch(max(0, log.epochs.latest)), log.end), self._disk, directory,
        )  # fmt: skip
        self.shard = Shard(self.partition, self._controller(), _encode, self._wrote)
        for effect in self._quorum.step(Started(), now):
            assert isinstance(effect, BecameLeader), "a sole voter has nobody to ask"
            first = control_batch([encode_control(effect.first_record)], timestamp=now)
            self._lead(effect.epoch, first, now)
        position = log.start
        while position < log.end:
            position = self.shard.load(_records, position, READ_BYTES)
        self.shard.run(BeginCluster(), now)
        self.shard.run(self._registration(log_dirs, clean), now)
        self._ready_at = log.end

    @property
    def ready(self) -> bool:
        """Whether everything that was there at the start has taken effect."""
        return self._ready_at > 0 and self.applied >= self._ready_at

    @property
    def controller_id(self) -> int:
        """The node that decides, as far as this one knows."""
        leader = self._quorum.leader
        return -1 if leader is None else leader

    @property
    def broker_epoch(self) -> int:
        """Under which epoch this broker is registered."""
        return self.image.brokers[self._me].epoch

    # ── what is committed ────────────────────────────────────────────────────────────

    def has_news(self) -> bool:
        """Whether more is committed than has been applied."""
        return self.applied < self.partition.watermark

    def apply(self) -> Delta:
        """Bring the image up to the watermark; returns what that changed."""
        watermark = self.partition.watermark
        for batch in batches_between(self.partition, self.applied, watermark):
            for offset, record in _records(batch):
                if offset >= self.applied:
                    self.image.replay(record, Offset(offset))
        self.applied = watermark
        return self.image.take_delta()

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _lead(self, epoch: LeaderEpoch, first_batch: bytearray, now: Millis) -> None:
        voters = frozenset(map(NodeId, self._settings.voters))
        self.partition.lead(
            self._me, epoch, voters, voters, watermark=Offset(0), now=now,
            lag_ms_max=FOLLOWER_LAG_MS_MAX, rule=majority_watermark,
        )  # fmt: skip
        self.partition.append_own(first_batch, now)

    def _controller(self) -> Controller:
        return Controller(self._settings.for_controller(), seed=int.from_bytes(self._chance.token(16), "big"))

    def _registration(self, log_dirs: tuple[bytes, ...], clean: bool) -> RegisterBroker:
        return RegisterBroker(
            broker_id=self._me,
            incarnation=self._chance.token(16),
            endpoints=tuple((each.name, each.host, each.port) for each in self._settings.advertised),
            features=SUPPORTED,
            rack=self._settings.broker.broker_rack,
            log_dirs=log_dirs,
            fenced=False,
            clean=clean,
        )


def _encode(record: MetadataRecord) -> tuple[None, bytes]:
    """Records of the metadata log have no key: all of them count, not the latest of each."""
    return None, encode_record(record)


def _records(batch: Batch) -> Iterator[tuple[int, MetadataRecord]]:
    for record in data_records(batch):
        yield record.offset, decode_record(record.value or b"")
