"""Voters that change in bad weather: as test_quorum.py, and leaders add voters and take their votes away.

A record of the log may name the voters; whoever has it in its log goes by it. Whatever happens, an epoch has one leader
and nothing that a majority of the voters of its time held is lost; when the weather clears, somebody leads, all agree
on who votes, and who was removed does not keep them from it.
"""

from __future__ import annotations

import pytest

from andiron.model.chance import Chance
from andiron.quorum import events as ev
from andiron.quorum.election_state import ElectionStateFile
from andiron.quorum.election_timeouts import ElectionTimeouts
from andiron.quorum.quorum import Quorum
from andiron.quorum.voter_set import VoterIds
from properties.effort import tries
from properties.test_quorum import CALM_MS, SETTINGS, STORM_MS, Voter, World, trouble


class Entry(int):
    """A record: its epoch, and the voters if it names any. At one place of the log an epoch has one record."""

    voters: tuple[int, ...] | None = None


def naming(epoch: int, voters: tuple[int, ...]) -> Entry:
    entry = Entry(epoch)
    entry.voters = voters
    return entry


class ChangingVoter(Voter):
    """A node that goes by the voters that its log names last."""

    world: ChangingWorld

    def start(self) -> None:
        self.life += 1
        chance = Chance(self.world.random.getrandbits(60))
        self.machine = Quorum(
            self.me, self.named(), ElectionTimeouts(SETTINGS, chance), self, ElectionStateFile(self.files, "/m"),
            voters_in_log=True,
        )  # fmt: skip
        self.tell(ev.NodeStarted())
        self.fetch(self.life)

    def named(self) -> VoterIds:
        found = [entry.voters for entry in self.log if isinstance(entry, Entry) and entry.voters]
        return VoterIds(found[-1] if found else self.world.first)

    def may_stand(self) -> bool:
        """Whether it voted before the last change, which may not be committed."""
        sets = [
            self.world.first,
            *(each.voters for each in self.log if isinstance(each, Entry) and each.voters),
        ]
        return len(sets) > 1 and self.me in sets[-2]

    def settle(self) -> None:
        """The log may name others now."""
        if self.machine is not None and self.machine.voters != self.named():
            self.machine.change_voters(self.named(), self.world.now, in_log=True)
            self.wake_later()

    def take(self, epoch: int, log: list[int]) -> None:
        super().take(epoch, log)
        self.settle()

    def change(self) -> None:
        """As a leader that has committed something, and the last change: another voter, or one less."""
        machine, world = self.machine, self.world
        if machine is None or not machine.leads or machine.epoch not in world.committed:
            return
        changed = [at for at, each in enumerate(self.log) if isinstance(each, Entry) and each.voters]
        if (changed and changed[-1] >= len(world.committed)) or self.log[
            : len(world.committed)
        ] != world.committed:
            return
        voters = list(machine.voters)
        node = world.random.choice(world.ids)
        after = [each for each in voters if each != node] if node in voters else [*voters, node]
        if after:
            self.log.append(naming(machine.epoch, tuple(sorted(after))))
            self.settle()
            world.commit(self)


class ChangingWorld(World):
    """Five nodes, of which some vote."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, size=5)
        self.first = (1, 2, 3)
        self.voters = {me: ChangingVoter(self, me) for me in self.ids}
        self.changes = 0

    def commit(self, leader: Voter) -> None:
        assert leader.machine is not None
        epoch, voters = leader.machine.epoch, leader.machine.voters
        holds = self._holds.get((leader.me, epoch), {})
        ends = sorted(len(leader.log) if each == leader.me else holds.get(each, 0) for each in voters)
        end = ends[(len(ends) - 1) // 2]
        if end > len(self.committed) and leader.log[end - 1] == epoch:
            assert leader.log[: len(self.committed)] == self.committed
            self.committed = leader.log[:end]
        if leader.me not in voters and isinstance(leader, ChangingVoter):
            gone = [at for at, each in enumerate(leader.log) if isinstance(each, Entry) and each.voters]
            if gone[-1] < len(self.committed):
                ranked = sorted((each for each in voters), key=self.length)
                leader.tell(ev.NodeStopping(ranked[::-1]))


def restlessness(world: ChangingWorld) -> None:
    """Whoever leads changes the voters now and then, until the storm is over."""
    if world.now >= STORM_MS:
        return
    for voter in world.voters.values():
        assert isinstance(voter, ChangingVoter)
        before = len(voter.log)
        voter.change()
        world.changes += len(voter.log) - before
    world.at(world.now + world.random.choice([300, 1_000, 4_000]), lambda: restlessness(world))


@pytest.mark.parametrize("seed", range(tries(80)))
def test_whatever_the_weather_changes_of_the_voters_lose_nothing(seed: int) -> None:
    world = ChangingWorld(seed)
    for voter in world.voters.values():
        voter.start()
    world.at(1_000, lambda: trouble(world))
    world.at(1_500, lambda: restlessness(world))
    world.run(STORM_MS)
    world.cut, world.loss, world.late_ms = set(), 0.0, 20
    for voter in world.voters.values():
        if voter.machine is None:
            voter.start()
    world.run(STORM_MS + CALM_MS)

    machines = [voter.machine for voter in world.voters.values() if voter.machine]
    following = {machine.leader for machine in machines}
    assert len(following) == 1 and None not in following, "somebody leads, and everybody knows"
    assert len({machine.voters for machine in machines}) == 1, "all agree on who votes"
    assert world.committed, "something was written"
