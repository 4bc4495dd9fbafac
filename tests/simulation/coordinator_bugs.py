"""Bugs that coordinators could have, planted one at a time, as those of bugs.py are."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from andiron.broker.coordinators import group_coordinator
from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.broker.coordinators.shard import Shard
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.groups.classic.group import ClassicGroup
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import Member
from andiron.groups.offsets import commits
from andiron.groups.offsets.records import OffsetCommitKey
from andiron.groups.offsets.table import Offsets
from andiron.groups.shard import GroupShard
from andiron.log.producers import Producers
from andiron.model.ids import wall_time
from andiron.model.machine import Decision
from andiron.model.timers import Timers
from andiron.transactions import ending, expiry, initiation, shard
from andiron.transactions.markers import OwedMarkers
from andiron.transactions.shard import TransactionShard
from simulation.bugs import BUGS, bug, planted

__all__ = ["BUGS", "planted"]

# ── transactions ─────────────────────────────────────────────────────────────────────


@bug
def markers_go_out_before_the_decision_is_committed():
    take = OwedMarkers.take
    return patch.object(OwedMarkers, "take", lambda self, upto: take(self, 1 << 62))


@bug
def a_prepared_transaction_owes_nothing_after_a_restart():
    load = Shard.load

    def forgetful(self, *args):
        place = load(self, *args)
        if isinstance(self.machine, TransactionShard):
            self.machine._owed = OwedMarkers(0, self.machine._owed._has_partition)
        return place

    return patch.object(Shard, "load", forgetful)


@bug
def a_successor_gets_the_epoch_of_its_predecessor():
    def renew(request, current, timeout_ms, now):
        return initiation._decision(current.renewed(current.holder, -1, timeout_ms, now))

    return patch.object(initiation, "_renew", renew)


@bug
def a_late_batch_is_written_without_asking_the_coordinator():
    opens = Partition.opens_transaction

    def knows_better(self, producer_id, epoch):
        known = self.log.producers.get(producer_id)
        return opens(self, producer_id, epoch) and (known is None or known.epoch != epoch)

    return patch.object(Partition, "opens_transaction", knows_better)


@bug
def the_end_of_a_transaction_is_taken_from_an_old_epoch():
    check = ending.check_holder

    def lenient(current, identity, version):
        if version < ending.BUMPS_SINCE:
            check(current, identity, version)

    return patch.object(ending, "check_holder", lenient)


@bug
def a_marker_is_written_again_when_it_is_repeated():
    append_marker = Partition.append_marker

    def repeated(self, marker, now):
        return append_marker(self, marker._replace(transaction_version=0), now)

    return patch.object(Partition, "append_marker", repeated)


@bug
def the_last_stable_offset_does_not_wait_for_open_transactions():
    return patch.object(Producers, "last_stable", lambda self, watermark: watermark)


@bug
def a_transaction_that_takes_too_long_is_left_alone():
    assert shard.is_timed_out is expiry.is_timed_out
    return patch.object(shard, "is_timed_out", lambda transaction, age_ms: False)


@bug
def a_transaction_is_as_old_as_the_clock_on_the_wall_says():
    def by_the_wall(self, transactional_id, now):
        current = self.transactions.get(transactional_id)
        return current is not None and expiry.is_timed_out(current, wall_time(now) - current.started_at)

    return patch.object(TransactionShard, "_is_late", by_the_wall)


@bug
def coordinators_answer_before_it_is_committed():
    committed = Shard.committed

    def hasty(self, response, end, deadline):
        if self.partition.name.topic in INTERNAL:
            return Wait.over(lambda: self._given(response))
        return committed(self, response, end, deadline)

    return patch.object(Shard, "committed", hasty)


@bug
def an_epoch_is_not_bumped_when_a_transaction_is_aborted_over_its_producer():
    decided = ending.Transaction.decided_for

    def same(self, successor, *, committed, previous_id, now):
        after = decided(self, successor, committed=committed, previous_id=previous_id, now=now)
        return after if committed else replace(after, producer=self.producer)

    return patch.object(ending.Transaction, "decided_for", same)


# ── offsets ──────────────────────────────────────────────────────────────────────────


@bug
def offsets_of_an_aborted_transaction_count():
    ended = Offsets.transaction_ended
    return patch.object(
        Offsets, "transaction_ended", lambda self, end: ended(self, end._replace(committed=True))
    )


@bug
def the_end_of_a_transaction_is_not_replayed_to_the_offsets():
    records = group_coordinator._records
    return patch.object(
        group_coordinator, "_records", lambda batch: () if batch.is_control else records(batch)
    )


@bug
def commits_are_acknowledged_and_not_written():
    commit = commits.commit

    def forgetful(asked, world, offsets, now):
        decision = commit(asked, world, offsets, now)
        return replace(decision, records=[]) if world.chance.below(20) == 0 else decision

    return patch.object(commits, "commit", forgetful)


# ── groups ───────────────────────────────────────────────────────────────────────────


@bug
def a_commit_of_a_former_generation_is_taken():
    return patch.object(ClassicGroup, "check_commit", lambda self, caller, **how: None)


@bug
def the_time_of_members_does_not_run_after_a_restart():
    return patch.object(GroupShard, "_loaded", lambda self, now: Decision(None))


@bug
def a_partition_is_handed_over_before_it_is_given_up():
    return patch.object(ConsumerGroup, "is_free", lambda self, topic, partition: True)


@bug
def a_static_member_that_was_replaced_is_not_fenced():
    check = ClassicGroup.check_member

    def lenient(self, member_id, instance_id):
        static = self.static_member(instance_id)
        return static if static is not None else check(self, member_id, instance_id)

    return patch.object(ClassicGroup, "check_member", lenient)


@bug
def what_a_member_gave_up_is_not_written_down():
    value = Member.value

    def forgetful(self):
        written = value(self)
        written.partitions_pending_revocation = []
        return written

    return patch.object(Member, "value", forgetful)


@bug
def the_last_of_several_records_of_a_group_is_not_written():
    write = Shard._write

    def sloppy(self, decision, now):
        *others, last = decision.records
        if not others or not isinstance(self.machine, GroupShard) or isinstance(last.key, OffsetCommitKey):
            return write(self, decision, now)
        write(self, replace(decision, records=others), now)
        return self.machine.replay(last, self.partition.log.end - 1)

    return patch.object(Shard, "_write", sloppy)


# ── memory ───────────────────────────────────────────────────────────────────────────


@bug
def deadlines_that_were_moved_stay_until_their_time():
    return patch.object(Timers, "_make_anew_if_worn", lambda self: None)


@bug
def what_was_ended_is_remembered_until_somebody_reads():
    return patch.object(Producers, "committed", lambda self, watermark: None)
