"""Bugs that a cluster could have, planted one at a time: in who leads, who holds what, and who gives way.

As in bugs.py: a change of a line or two to the code that ships, of the kind people really make; most were made,
by somebody, in a system that people use.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

from andiron.broker.coordinators.shard import Shard
from andiron.broker.handlers.fetch import Fetch
from andiron.broker.metadata import raft_client, raft_request_checks, snapshot_generator
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.replicas.fetch_backlog import FetchBacklog
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.partition import Partition
from andiron.controller import alter_partition, broker_registrations, partition_changes
from andiron.controller.controller import Controller
from andiron.controller.image import Image
from andiron.controller.image_writer import records_of
from andiron.controller.records import ConfigRecord, ProducerIdsRecord
from andiron.log.partition_log import PartitionLog
from andiron.log.producers import Producers
from andiron.model.awake import AwakeTime
from andiron.quorum.election_state import NOBODY
from andiron.quorum.quorum import Quorum
from andiron.quorum.roles import Role
from andiron.quorum.voter_set import VoterIds
from andiron.replication.follower import FollowerReplica
from andiron.replication.leader import LeaderReplica

BUGS: dict[str, Callable[[], object]] = {}


def bug(plant: Callable[[], object]) -> Callable[[], object]:
    BUGS[plant.__name__] = plant
    return plant


# ── the metadata quorum ──────────────────────────────────────────────────────────────


@bug
def a_voter_forgets_its_vote():
    def lenient(self, candidate, log, *, pre_vote):
        if self.role in (Role.LEADER, Role.RESIGNED) or log < self._log.log_end():
            return False
        return pre_vote or self._state.leader == NOBODY

    return patch.object(Quorum, "_may_grant", lenient)


@bug
def a_candidate_with_less_is_voted_for():
    may_grant = Quorum._may_grant

    def careless(self, candidate, log, *, pre_vote):
        with patch.object(self._log, "log_end", lambda: log):
            return may_grant(self, candidate, log, pre_vote=pre_vote)

    return patch.object(Quorum, "_may_grant", careless)


@bug
def whoever_comes_is_believed_in_any_epoch():
    return patch.object(raft_request_checks, "refusal", lambda *_, **__: None)


@bug
def one_voter_is_a_majority():
    return patch.object(raft_client, "majority_watermark", max)


@bug
def the_quorum_counts_what_is_not_on_the_disk():
    return patch.object(
        Partition, "position", lambda self: None if self._follower is None else self._follower.position()
    )


@bug
def metadata_takes_effect_before_a_majority_has_it():
    apply = MetadataLoader.apply

    def early(self):
        with patch.object(Partition, "watermark", property(lambda partition: partition.log.end)):
            apply(self)

    return patch.multiple(
        MetadataLoader,
        apply=early,
        has_news=lambda self: self._skipped or self.applied < self.partition.log.end,
    )


@bug
def one_vote_of_three_is_a_majority():
    return patch.object(VoterIds, "is_majority", lambda self, some: 2 * len(list(some)) >= len(self._ids) - 1)


@bug
def a_controller_begins_with_what_is_committed_and_not_with_all_that_is_written():
    load = Shard.load

    def short(self, read, start, bytes_max):
        is_controllers = isinstance(self.machine, Controller)
        return self.partition.log.end if is_controllers else load(self, read, start, bytes_max)

    return patch.object(Shard, "load", short)


@bug
def a_snapshot_leaves_settings_out():
    def some(image):
        return (record for record in records_of(image) if not isinstance(record, ConfigRecord))

    return patch.object(snapshot_generator, "records_of", some)


@bug
def what_a_snapshot_told_is_replayed_from_the_log():
    """Found by this simulator, and mended."""
    apply = MetadataLoader.apply

    def again(self):
        self.applied = min(self.applied, self.partition.watermark)
        apply(self)

    return patch.object(MetadataLoader, "apply", again)


# ── replication ──────────────────────────────────────────────────────────────────────


@bug
def the_watermark_does_not_wait_for_followers():
    return patch.object(LeaderReplica, "_committed", lambda self, held: held)


@bug
def the_watermark_does_not_wait_for_who_is_about_to_be_in_sync():
    committed = LeaderReplica._committed

    def early(self, held):
        proposed, self.proposed = self.proposed, self.isr & self.proposed
        isr, self.isr = self.isr, self.isr & proposed
        try:
            return committed(self, held)
        finally:
            self.proposed, self.isr = proposed, isr

    return patch.object(LeaderReplica, "_committed", early)


@bug
def a_follower_never_gives_way():
    take = FollowerReplica.take

    def stubborn(self, fetched, now):
        return take(self, fetched._replace(diverging=None), now)

    return patch.object(FollowerReplica, "take", stubborn)


@bug
def a_follower_gives_way_to_its_own_watermark():
    """As before KIP-101: whoever begins to follow drops what it does not know to be committed."""
    follow = Partition.follow

    def humble(self, epoch, watermark):
        follow(self, epoch, watermark)
        if self.name.topic != "__cluster_metadata":
            self.log.truncate(self.watermark, 0)

    return patch.object(Partition, "follow", humble)


@bug
def a_follower_that_is_far_behind_is_called_in_sync():
    def generous(self, now, may_join=lambda replica: True):
        wanted = frozenset({self._me, *self._progress})
        if self.proposed != self.isr or wanted == self.isr:
            return None
        self.proposed = wanted
        return wanted

    return patch.object(LeaderReplica, "propose", generous)


@bug
def acks_all_is_answered_before_the_followers_have_it():
    acknowledged = Partition.acknowledged
    return patch.object(Partition, "acknowledged", lambda self, written, acks: acknowledged(self, written, 1))


@bug
def a_leader_drops_replicas_from_the_isr_without_the_controller():
    propose = LeaderReplica.propose

    def hasty(self, now, may_join=lambda replica: True):
        wanted = propose(self, now, may_join)
        if wanted is not None and wanted < self.isr:
            self.isr = wanted
        return wanted

    return patch.object(LeaderReplica, "propose", hasty)


@bug
def a_leader_that_was_deposed_goes_on():
    follow = Partition.follow

    def stubborn(self, epoch, watermark):
        if not (self.leads and self.name.topic != "__cluster_metadata"):
            follow(self, epoch, watermark)

    return patch.object(Partition, "follow", stubborn)


@bug
def what_a_follower_knows_of_producers_is_not_kept():
    append_replicated = PartitionLog.append_replicated

    def careless(self, records, now):
        with patch.object(Producers, "replay", lambda *_: None):
            return append_replicated(self, records, now)

    return patch.object(PartitionLog, "append_replicated", careless)


@bug
def a_follower_does_not_see_markers():
    append_replicated, replay = PartitionLog.append_replicated, Producers.replay

    def blind(self, batch, base_offset, max_timestamp):
        return None if batch.is_control else replay(self, batch, base_offset, max_timestamp)

    def careless(self, records, now):
        with patch.object(Producers, "replay", blind):
            return append_replicated(self, records, now)

    return patch.object(PartitionLog, "append_replicated", careless)


@bug
def a_follower_does_not_hear_where_its_leaders_log_starts():
    take = FollowerReplica.take
    return patch.object(
        FollowerReplica, "take", lambda self, fetched, now: take(self, fetched._replace(log_start=0), now)
    )


@bug
def consumers_are_shown_what_is_not_committed():
    read = Partition.read

    def generous(self, offset, max_bytes, upto, *, at_least_one):
        return read(self, offset, max_bytes, self.log.end, at_least_one=at_least_one)

    return patch.object(Partition, "read", generous)


@bug
def the_first_of_two_fetches_takes_the_news_of_the_second():
    """Found by this simulator, and mended."""

    def eager(self):
        if self._just_looked:
            self._just_looked = False
            return False
        return self.is_enough() or (self._session is not None and self._session.epoch != self._session_epoch)

    return patch.object(Fetch, "is_over", eager)


@bug
def a_flush_that_could_not_begin_is_forgotten():
    """Found by this simulator, and mended."""
    return patch.object(Housekeeping, "could_not_flush", lambda self, partition, now: None)


# ── the controller ───────────────────────────────────────────────────────────────────


@bug
def a_broker_that_crashed_is_taken_for_one_that_stopped():
    registration = broker_registrations.registration
    return patch.object(
        broker_registrations,
        "registration",
        lambda record, image, settings, *, clean: registration(record, image, settings, clean=True),
    )


@bug
def epochs_of_leaders_are_not_told_apart():
    return patch.object(Partition, "check_epoch", lambda self, named: None)


@bug
def a_leader_does_not_ask_for_two_in_sync():
    init = LeaderReplica.__init__

    def lax(self, state, offsets, terms, **how):
        init(self, state, offsets, terms._replace(least=1), **how)

    return patch.multiple(
        LeaderReplica, __init__=lax, enough_in_sync=lambda self, least: True,
        require=lambda self, *, durable, least: setattr(self, "durable", durable) or False,
    )  # fmt: skip


@bug
def an_earlier_life_of_a_broker_may_join_the_isr():
    def any_life(member, image):
        return None

    return patch.object(alter_partition, "_check_eligible", any_life)


@bug
def any_replica_may_lead():
    of = partition_changes.TopicRules.of.__func__
    return patch.object(
        partition_changes.TopicRules,
        "of",
        classmethod(lambda cls, *args: of(cls, *args)._replace(unclean=True)),
    )


@bug
def a_new_leader_leads_in_the_old_epoch():
    put = Image._put

    def level(self, topic_id, number, partition):
        known = self.topics_by_id[topic_id].partitions.get(number)
        if known is not None and partition.leader != known.leader:
            partition = partition._replace(leader_epoch=known.leader_epoch)
        put(self, topic_id, number, partition)

    return patch.object(Image, "_put", level)


@bug
def a_reassignment_is_done_before_the_new_replicas_are_in_sync():
    def hasty(wanted):
        staying = [replica for replica in wanted.replicas if replica not in wanted.removing]
        if not wanted.reassigning or not staying:
            return wanted
        done = partition_changes.with_replicas(wanted, staying)._replace(adding=(), removing=())
        return done if done.isr else done._replace(isr=done.replicas[:1])

    return patch.object(partition_changes, "_finish_reassignment", hasty)


@bug
def whoever_was_in_sync_once_stays_eligible():
    with_elr = partition_changes._with_elr

    def lenient(old, after, rules, lost):
        after = with_elr(old, after, rules, lost)
        others = (each for each in after.replicas if each not in after.isr and each != lost)
        return after._replace(elr=tuple(others))

    return patch.object(partition_changes, "_with_elr", lenient)


@bug
def a_follower_takes_all_that_it_has_for_committed():
    take = FollowerReplica.take

    def hopeful(self, fetched, now):
        after = take(self, fetched, now)
        self.watermark = self._log.end
        return after

    return patch.object(FollowerReplica, "take", hopeful)


@bug
def a_new_leader_takes_all_that_it_has_for_committed():
    lead = Partition.lead

    def hopeful(self, *args, **how):
        lead(self, *args, **how | {"watermark": self.log.end})

    return patch.object(Partition, "lead", hopeful)


@bug
def a_controller_does_not_note_which_producer_ids_it_gave():
    replay = Image.replay

    def slow(self, record, offset):
        if not (isinstance(record, ProducerIdsRecord) and not self._noting):
            replay(self, record, offset)

    return patch.object(Image, "replay", slow)


@bug
def a_follower_takes_in_all_that_has_come_in_one_step():
    begin = FetchBacklog.begin
    return patch.object(FetchBacklog, "begin", lambda self, bytes_max: begin(self, 1 << 40))


@bug
def a_pause_counts_as_silence():
    return patch.object(AwakeTime, "at", lambda self, steady: steady)
