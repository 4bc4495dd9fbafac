"""Bugs that a cluster could have, planted one at a time: in who leads, who holds what, and who gives way.

As in bugs.py: a change of a line or two to the code that ships, of the kind people really make; most were made,
by somebody, in a system that people use.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

from andiron.broker import quorum_member
from andiron.broker.metadata import Metadata
from andiron.broker.partition import Partition
from andiron.controller import registrations
from andiron.quorum.quorum import Quorum, Role
from andiron.quorum.state import NOBODY
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
        if self.role in (Role.LEADER, Role.RESIGNED) or log < self._log_end():
            return False
        return pre_vote or self._state.leader == NOBODY

    return patch.object(Quorum, "_may_grant", lenient)


@bug
def a_candidate_with_less_is_voted_for():
    may_grant = Quorum._may_grant

    def careless(self, candidate, log, *, pre_vote):
        own, self._log_end = self._log_end, lambda: log
        try:
            return may_grant(self, candidate, log, pre_vote=pre_vote)
        finally:
            self._log_end = own

    return patch.object(Quorum, "_may_grant", careless)


@bug
def one_voter_is_a_majority():
    return patch.object(quorum_member, "majority_watermark", max)


@bug
def the_quorum_counts_what_is_not_on_the_disk():
    return patch.object(
        Partition, "position", lambda self: None if self._follower is None else self._follower.position()
    )


@bug
def metadata_takes_effect_before_a_majority_has_it():
    return patch.object(Metadata, "has_news", lambda self: self.applied < self.partition.log.end)


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
    return patch.object(FollowerReplica, "_agreed", lambda self, epoch, end: self.watermark)


@bug
def a_follower_that_is_far_behind_is_called_in_sync():
    def generous(self, now, may_join=lambda replica: True):
        wanted = frozenset({self._me, *self._progress})
        if self.proposed != self.isr or wanted == self.isr:
            return None
        self.proposed = wanted
        return wanted

    return patch.object(LeaderReplica, "propose", generous)


# ── the controller ───────────────────────────────────────────────────────────────────


@bug
def a_broker_that_crashed_is_taken_for_one_that_stopped():
    taken_in = registrations.taken_in
    return patch.object(
        registrations,
        "taken_in",
        lambda record, image, settings, *, clean: taken_in(record, image, settings, clean=True),
    )


@bug
def epochs_of_leaders_are_not_told_apart():
    return patch.object(Partition, "check_epoch", lambda self, named: None)


@bug
def a_leader_does_not_ask_for_two_in_sync():
    init = LeaderReplica.__init__

    def lax(self, *args, **how):
        init(self, *args, **how | {"least": 1})

    return patch.multiple(
        LeaderReplica, __init__=lax, enough_in_sync=lambda self, least: True,
        require=lambda self, *, durable, least: setattr(self, "durable", durable) or False,
    )  # fmt: skip
