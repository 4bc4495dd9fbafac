"""Voters in bad weather: messages that are lost, late and twice, voters that are cut off, killed and slow.

A model around the machine of quorum/quorum.py: logs are lists, followers copy what their leader has. Whatever
happens, an epoch has one leader, a voter has one vote in it, and what a majority held is in every later leader's
log; when the weather clears, somebody leads and everybody follows.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import Any

import pytest

from andiron.model.chance import Chance
from andiron.quorum import events as ev
from andiron.quorum.election_state import NOBODY, ElectionStateFile
from andiron.quorum.election_timeouts import ElectionTimeouts
from andiron.quorum.quorum import Quorum
from andiron.quorum.settings import QuorumSettings
from andiron.quorum.voter_set import VoterIds
from properties.effort import tries
from worlds.small_files import SmallFiles

SETTINGS = QuorumSettings()
FETCH_EVERY_MS = 200
STORM_MS, CALM_MS = 60_000, 20_000


class Voter:
    """A voter with its log: the epoch of each record."""

    def __init__(self, world: World, me: int) -> None:
        self.world, self.me, self.files, self.log = world, me, SmallFiles(), list[int]()
        self.life = 0
        self.machine: Quorum | None = None

    def start(self) -> None:
        self.life += 1
        chance = Chance(self.world.random.getrandbits(60))
        voters = VoterIds(self.world.ids)
        self.machine = Quorum(
            self.me, voters, ElectionTimeouts(SETTINGS, chance), self, ElectionStateFile(self.files, "/m")
        )
        self.tell(ev.NodeStarted())
        self.fetch(self.life)

    def stop(self, gracefully: bool) -> None:
        if gracefully:
            ranked = sorted((each for each in self.world.ids if each != self.me), key=self.world.length)
            self.tell(ev.NodeStopping(ranked[::-1]))
        self.machine = None

    def log_end(self) -> ev.LogEnd:
        return ev.LogEnd(self.log[-1] if self.log else 0, len(self.log))

    def may_stand(self) -> bool:
        return False

    def tell(self, event: ev.Event) -> None:
        if self.machine is not None:
            self.perform(self.machine.step(event, self.world.now))
            self.wake_later()

    def wake_later(self) -> None:
        assert self.machine is not None
        life = self.life
        self.world.at(
            self.machine.next_deadline(), lambda: life == self.life and self.tell(ev.DeadlineReached())
        )

    def perform(self, effects: list[ev.Effect]) -> None:
        send = self.world.send
        for effect in effects:
            match effect:
                case ev.AskVote(voter):
                    send(self.me, voter, lambda to, ask=effect: to.asked(self.me, ask))
                case ev.BeginEpoch(voter, epoch):
                    send(self.me, voter, lambda to, e=epoch: to.told(e, self.me))
                case ev.EndEpoch(voter, epoch, successors):
                    send(self.me, voter, lambda to, e=epoch, s=successors: to.tell(ev.LeaderResigned(e, s)))
                case ev.BecameLeader(epoch, _):
                    self.world.voted(self.me, epoch, self.me)
                    self.world.elected(self, epoch)
                    self.log.append(epoch)
                case ev.BecameFollower() | ev.LostLeader():
                    pass

    def told(self, epoch: int, leader: int) -> None:
        self.tell(ev.LeaderNamed(epoch, leader))
        self.tell(ev.LeaderHeard(epoch))

    def asked(self, candidate: int, ask: ev.AskVote) -> None:
        assert self.machine is not None
        now = self.world.now
        ballot = self.machine.vote(candidate, ask.epoch, ask.log, pre_vote=ask.pre_vote, now=now)
        if ballot.granted and not ask.pre_vote:
            self.world.voted(self.me, ask.epoch, candidate)
        self.perform(ballot.effects)
        self.wake_later()
        answer = ev.VoteAnswered(
            self.me, ask.epoch, ask.pre_vote, ballot.granted, ballot.epoch, ballot.leader
        )
        self.world.send(self.me, candidate, lambda to: to.tell(answer))

    def fetch(self, life: int) -> None:
        """Again and again, from whoever leads."""
        if life != self.life or self.machine is None:
            return
        self.world.at(self.world.now + FETCH_EVERY_MS, lambda: self.fetch(life))
        machine = self.machine
        if machine.leads and self.world.random.random() < 0.3:
            self.log.append(machine.epoch)
            self.world.commit(self)
        target = machine.leader if machine.leader is not None else self.world.random.choice(self.world.ids)
        if target != self.me:
            epoch, log = machine.epoch, list(self.log)
            self.world.send(self.me, target, lambda to: to.fetched(self.me, epoch, log))

    def fetched(self, follower: int, epoch: int, log: list[int]) -> None:
        machine = self.machine
        assert machine is not None
        if not machine.leads or epoch != machine.epoch:
            self.tell(ev.LeaderNamed(epoch, NOBODY))
            known = NOBODY if machine.leader is None else machine.leader
            told = ev.LeaderNamed(machine.epoch, known)
            self.world.send(self.me, follower, lambda to: to.tell(told))
            return
        self.tell(ev.VoterFetched(follower))
        if log == self.log[: len(log)]:
            self.world.held(self, follower, len(log))
        copied = list(self.log)
        self.world.send(self.me, follower, lambda to: to.take(epoch, copied))

    def take(self, epoch: int, log: list[int]) -> None:
        assert self.machine is not None
        self.tell(ev.LeaderHeard(epoch))
        if self.machine.epoch == epoch and not self.machine.leads and self.machine.leader is not None:
            same = 0
            while same < min(len(log), len(self.log)) and log[same] == self.log[same]:
                same += 1
            if same == len(log) < len(self.log) and self.log[same - 1 :][:1] == [epoch]:
                return  # an older answer of this leader's
            self.log = list(log)


class World:
    """The network, the clock, and what must hold."""

    def __init__(self, seed: int, size: int) -> None:
        self.random, self.now = random.Random(seed), 0
        self.ids = list(range(1, size + 1))
        self.voters = {me: Voter(self, me) for me in self.ids}
        self.cut: set[tuple[int, int]] = set()
        self.loss, self.late_ms = 0.2, 400
        self.leaders: dict[int, int] = {}
        self.votes: dict[tuple[int, int], int] = {}
        self.committed: list[int] = []
        self._holds: dict[tuple[int, int], dict[int, int]] = {}
        self._queue: list[tuple[int, int, Callable[[], Any]]] = []
        self._count = 0

    def at(self, when: int, do: Callable[[], Any]) -> None:
        self._count += 1
        heapq.heappush(self._queue, (max(when, self.now), self._count, do))

    def send(self, source: int, target: int, deliver: Callable[[Voter], None]) -> None:
        for _ in range(2 if self.random.random() < self.loss / 4 else 1):
            if self.random.random() >= self.loss and (source, target) not in self.cut:
                late = self.random.randint(1, self.late_ms)
                self.at(self.now + late, lambda: self._deliver(self.voters[target], deliver))

    def _deliver(self, to: Voter, deliver: Callable[[Voter], None]) -> None:
        if to.machine is not None:
            deliver(to)

    def run(self, until: int) -> None:
        while self._queue and self._queue[0][0] <= until:
            self.now, _, do = heapq.heappop(self._queue)
            do()
        self.now = until

    # ── what must hold ───────────────────────────────────────────────────────────────

    def elected(self, voter: Voter, epoch: int) -> None:
        assert self.leaders.setdefault(epoch, voter.me) == voter.me, f"two leaders in epoch {epoch}"
        assert voter.log[: len(self.committed)] == self.committed, "a leader without what is committed"

    def held(self, leader: Voter, follower: int, end: int) -> None:
        assert leader.machine is not None
        self._holds.setdefault((leader.me, leader.machine.epoch), {})[follower] = end
        self.commit(leader)

    def commit(self, leader: Voter) -> None:
        """What a majority holds, once a record of the leader's own epoch is among it, stays."""
        assert leader.machine is not None
        epoch = leader.machine.epoch
        holds = self._holds.get((leader.me, epoch), {})
        ends = sorted([len(leader.log), *(holds.get(each, 0) for each in self.ids if each != leader.me)])
        end = ends[(len(ends) - 1) // 2]
        if end > len(self.committed) and leader.log[end - 1] == epoch:
            assert leader.log[: len(self.committed)] == self.committed
            self.committed = leader.log[:end]

    def voted(self, voter: int, epoch: int, candidate: int) -> None:
        assert self.votes.setdefault((voter, epoch), candidate) == candidate, (
            f"{voter} votes twice in {epoch}"
        )

    def length(self, voter: int) -> int:
        return len(self.voters[voter].log)


def trouble(world: World) -> None:
    """Something happens to somebody; again in a while, until the storm is over."""
    if world.now >= STORM_MS:
        return
    chance, voter = world.random, world.voters[world.random.choice(world.ids)]
    match chance.randrange(8):
        case 0 if voter.machine is not None:
            voter.stop(gracefully=chance.random() < 0.5)
        case 0 | 1 if voter.machine is None:
            voter.start()
        case 2:
            world.cut = {
                (a, b) for a in world.ids for b in world.ids if voter.me in (a, b) and chance.random() < 0.7
            }
        case 3:
            world.cut = set()
        case 4:
            world.loss, world.late_ms = chance.choice([(0.0, 20), (0.1, 400), (0.3, 2500)])
        case _ if voter.machine is not None:
            voter.stop(gracefully=False)
            voter.start()
    world.at(world.now + chance.choice([20, 100, 500, 3000]), lambda: trouble(world))


@pytest.mark.parametrize("seed", range(tries(80)))
def test_whatever_the_weather_an_epoch_has_one_leader_and_nothing_committed_is_lost(seed: int) -> None:
    world = World(seed, size=(3, 5)[seed % 2])
    for voter in world.voters.values():
        voter.start()
    world.at(1_000, lambda: trouble(world))
    world.run(STORM_MS)
    world.cut, world.loss, world.late_ms = set(), 0.0, 20
    for voter in world.voters.values():
        if voter.machine is None:
            voter.start()
    world.run(STORM_MS + CALM_MS)

    following = {voter.machine.leader for voter in world.voters.values() if voter.machine}
    assert len(following) == 1 and None not in following, "somebody leads, and everybody knows"
    assert world.committed, "something was written"
