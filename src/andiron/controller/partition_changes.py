"""Partition changes: how a partition goes from its state to the next, and the record that says so.

    PartitionChanges    the changes that one decision makes, Kafka's PartitionChangeBuilder for all its partitions
    next_state          one partition: who is in sync, who is eligible (ELR), who leads, under which epochs
    change_record       the PartitionChangeRecord that makes one state of another
    Election            who should lead if there is a choice: preferred, or at any price (unclean)
    TopicRules          what a topic allows: min.insync.replicas, unclean.leader.election.enable, an ELR
    with_replicas       a partition with other replicas

Whatever happens (a broker goes, comes back, a leader asks for another ISR, replicas are moved), it comes
down to a state that somebody wants. `next_state` makes of it one that keeps the promises:

    wanted ──▶ is a reassignment done? ──▶ ELR ──▶ who leads ──▶ epochs ──▶ PartitionImage

The ISR holds all that is committed. Below min.insync.replicas nothing more is committed with acks=all, so who
leaves the ISR then still holds it all, and is eligible to lead (ELR, KIP-966) until the ISR has come up again:

    min.insync.replicas 2, ISR 1 2 3     3 goes   ISR 1 2             enough are in sync, so 3 falls behind
                                         2 goes   ISR 1     ELR 2
                                         1 goes   ISR -     ELR 2 1   nobody leads; whoever is back first will

A broker that was killed may have lost what it had not yet brought to the disk, so it is neither in sync nor
eligible when it is back. If that leaves nobody, whoever led last leads again, and is told to recover.

The leader epoch rises with every change of leader, and when a replica is taken away; the partition epoch
with every change.

A decision on a broker (it is fenced, let in, loses a directory) is at the same time one on all partitions of
which it has a replica, and these are decided as if the broker had changed already:

    image.brokers     1 live   2 live     3 fenced
    changed                    2 fenced
    may lead          1

Read next: leader_election.py, on what happens when a broker comes or goes; alter_partition.py, on what leaders ask for.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import NamedTuple

from andiron.controller.features import ELR_VERSION
from andiron.controller.image import NO_LEADER, SAME_LEADER, BrokerImage, Image, PartitionImage, TopicImage
from andiron.controller.records import MetadataRecord, PartitionChangeRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.ids import LeaderEpoch, NodeId
from andiron.model.invariant import invariant

MayLead = Callable[[PartitionImage, NodeId], bool]


class Election(enum.Enum):
    """Who should lead, if there is a choice."""

    ONLINE = "whoever leads, else the first of the replicas that may"
    PREFERRED = "the first of the replicas if it may, else as before"
    UNCLEAN = "as ONLINE, and rather one that is not in sync than nobody"


class TopicRules(NamedTuple):
    """What a topic's settings and the cluster's features allow its partitions."""

    min_insync: int
    unclean: bool  # one that is not in sync may lead
    elr: bool  # eligible leader replicas are kept, and an ISR may be empty

    @classmethod
    def of(cls, topic: str, image: Image, settings: ControllerSettings) -> TopicRules:
        """The rules for the partitions of one topic, by its settings and the cluster's features."""
        return cls(
            settings.of_topic("min.insync.replicas", topic, image),
            settings.of_topic("unclean.leader.election.enable", topic, image),
            image.features.get(ELR_VERSION, 0) > 0,
        )


class PartitionChanges:
    """Partitions as one decision leaves them, and the records that bring it about.

    Whoever asks for a partition again within the decision sees it as changed: a request may name one twice.
    `changed` is a broker as it will be, where the decision is about one.
    """

    def __init__(
        self, image: Image, settings: ControllerSettings, changed: BrokerImage | None = None
    ) -> None:
        self.records: list[MetadataRecord] = []
        self._image, self._settings, self._changed = image, settings, changed
        self._rules: dict[bytes, TopicRules] = {}
        self._states: dict[tuple[bytes, int], PartitionImage] = {}

    def state(self, topic: TopicImage, number: int) -> PartitionImage:
        """A partition as this decision has left it so far."""
        return self._states.get((topic.id, number)) or topic.partitions[number]

    def may_lead(self, partition: PartitionImage, replica: NodeId) -> bool:
        """Whether a replica is on a live broker, in a log directory that works."""
        is_changed = self._changed is not None and self._changed.id == replica
        broker = self._changed if is_changed else self._image.brokers.get(replica)
        return broker is not None and broker.live and broker.holds(partition.directory_of(replica))

    def change(
        self,
        topic: TopicImage,
        number: int,
        wanted: PartitionImage,
        election: Election = Election.ONLINE,
        lost: NodeId | None = None,
    ) -> PartitionImage:
        """Bring a partition as near to the wanted state as its promises allow; returns the state it has then."""
        old = self.state(topic, number)
        new = next_state(old, wanted, self.may_lead, self._rules_of(topic), election, lost)
        record = change_record(topic.id, number, old, new)
        if record is not None:
            self._states[topic.id, number] = new
            self.records.append(record)
        return new

    def _rules_of(self, topic: TopicImage) -> TopicRules:
        rules = self._rules.get(topic.id)
        if rules is None:
            rules = self._rules[topic.id] = TopicRules.of(topic.name, self._image, self._settings)
        return rules


# ── the next state of one partition ──────────────────────────────────────────────────


def next_state(
    old: PartitionImage,
    wanted: PartitionImage,
    may_lead: MayLead,
    rules: TopicRules,
    election: Election = Election.ONLINE,
    lost: NodeId | None = None,
) -> PartitionImage:
    """The state that follows `old` when `wanted` is asked for; `old` itself if nothing changes.

    `lost` is a broker that may have lost what it had.
    """
    after = _with_elr(old, _finish_reassignment(wanted), rules, lost)
    leader, clean = _elect(old, after, may_lead, rules, election)
    if leader != NO_LEADER and leader not in after.isr:
        elr = tuple(replica for replica in after.elr if replica != leader) if clean else ()
        after = after._replace(isr=(leader,), elr=elr, recovering=after.recovering or not clean)
        if _enough_in_sync(after, rules):
            after = after._replace(elr=())
    after = after._replace(
        leader=leader, last_known_elr=_last_known_leader(old, after) if not after.isr else ()
    )
    moved = leader != old.leader or (leader != NO_LEADER and leader == lost)
    if moved or not set(old.replicas) <= set(after.replicas):
        after = after._replace(leader_epoch=LeaderEpoch(old.leader_epoch + 1))
    if after == old:
        return old
    _check(after)
    return after._replace(partition_epoch=old.partition_epoch + 1)


def _check(partition: PartitionImage) -> None:
    """What every state that is decided here has. Kafka's may lack the last: its ELR outlives a reassignment."""
    replicas, isr, elr = partition.replicas, partition.isr, partition.elr
    invariant(partition.leader in (NO_LEADER, *isr), "a leader is in the ISR, or nobody leads", partition)
    invariant(all(each in replicas for each in isr), "who is in the ISR is a replica", partition)
    invariant(not any(each in isr for each in elr), "nobody is in the ISR and in the ELR", partition)
    invariant(all(each in replicas for each in elr), "who is in the ELR is a replica", partition)


def change_record(
    topic_id: bytes, number: int, old: PartitionImage, new: PartitionImage
) -> PartitionChangeRecord | None:
    """The record that makes `new` of `old`; None if they are the same."""
    if new == old:
        return None
    return PartitionChangeRecord(
        number,
        topic_id,
        isr=_if_other(new.isr, old.isr),
        leader=new.leader if new.leader_epoch != old.leader_epoch else SAME_LEADER,
        replicas=_if_other(new.replicas, old.replicas),
        removing_replicas=_if_other(new.removing, old.removing),
        adding_replicas=_if_other(new.adding, old.adding),
        leader_recovery_state=int(new.recovering) if new.recovering != old.recovering else -1,
        directories=list(new.directories) if new.directories != old.directories else None,
        eligible_leader_replicas=_if_other(new.elr, old.elr),
        last_known_elr=_if_other(new.last_known_elr, old.last_known_elr),
    )


def _if_other(new: tuple[NodeId, ...], old: tuple[NodeId, ...]) -> list[int] | None:
    return None if new == old else [*map(int, new)]


# ── step by step ─────────────────────────────────────────────────────────────────────


def with_replicas(partition: PartitionImage, replicas: Iterable[int]) -> PartitionImage:
    """A partition with other replicas; each takes its directory along, and who is out is not in sync."""
    kept = tuple(map(NodeId, replicas))
    directories = tuple(map(partition.directory_of, kept)) if partition.directories else ()
    isr = tuple(replica for replica in partition.isr if replica in kept)
    return partition._replace(replicas=kept, directories=directories, isr=isr)


def _finish_reassignment(wanted: PartitionImage) -> PartitionImage:
    """A reassignment is done when all replicas that are to stay are in sync; then the others go."""
    if not wanted.reassigning:
        return wanted
    staying = [replica for replica in wanted.replicas if replica not in wanted.removing]
    if not staying or not all(replica in wanted.isr for replica in staying):
        return wanted
    return with_replicas(wanted, staying)._replace(adding=(), removing=())


def _enough_in_sync(partition: PartitionImage, rules: TopicRules) -> bool:
    """Whether the ISR is large enough for acks=all: min.insync.replicas, or all there are."""
    return len(partition.isr) >= min(rules.min_insync, len(partition.replicas))


def _with_elr(
    old: PartitionImage, after: PartitionImage, rules: TopicRules, lost: NodeId | None
) -> PartitionImage:
    """The ELR that goes with the ISR; without ELR the last in sync stays where it is."""
    if not rules.elr:
        return after._replace(isr=after.isr or old.isr, elr=())
    if _enough_in_sync(after, rules):
        return after._replace(elr=())
    candidates = dict.fromkeys((*old.elr, *old.isr))
    elr = (each for each in candidates if each in after.replicas and each not in after.isr and each != lost)
    return after._replace(elr=tuple(elr))


def _elect(
    old: PartitionImage, after: PartitionImage, may_lead: MayLead, rules: TopicRules, election: Election
) -> tuple[NodeId, bool]:
    """Who leads, and whether it has all that is committed for sure."""
    from_them = after.isr or after.elr
    fit = [each for each in after.replicas if each in from_them and may_lead(after, each)]
    if fit:
        preferred = election is Election.PREFERRED and fit[0] == after.replicas[0]
        return (old.leader if old.leader in fit and not preferred else fit[0]), True
    if rules.elr and not from_them:
        last = _last_known_leader(old, after)
        if len(last) == 1 and last[0] in after.replicas and may_lead(after, last[0]):
            return last[0], False
    if election is Election.UNCLEAN or (rules.unclean and election is Election.ONLINE):
        for replica in after.replicas:
            if may_lead(after, replica):
                return replica, False
    return NO_LEADER, True


def _last_known_leader(old: PartitionImage, after: PartitionImage) -> tuple[NodeId, ...]:
    """Who led last, which is all that is known of who has the committed records once ISR and ELR are empty."""
    return after.last_known_elr if old.leader == NO_LEADER else (old.leader,)
