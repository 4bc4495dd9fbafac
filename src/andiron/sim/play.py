"""A seed, played: a world is made from it, lives through its weather, comes to rest and is looked over.

    begin ── weather, clients at work ── clears up ── clients finish ── rest ── one more restart ── rest

After the last restart a new consumer reads everything there is: what was promised is not only on
the disk but can be had.

The outcome tells how it went; a violation is an outcome, not an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from andiron.model.ids import Millis
from andiron.sim.clients.admin import Admin
from andiron.sim.clients.client import Client
from andiron.sim.clients.consumer import Consumer
from andiron.sim.clients.inquirer import Inquirer
from andiron.sim.clients.producer import Producer
from andiron.sim.clients.transactor import Transactor
from andiron.sim.host import Host
from andiron.sim.invariants import all_invariants
from andiron.sim.journal import Journal
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirrors
from andiron.sim.network import Network
from andiron.sim.plan import Plan, make_plan
from andiron.sim.rot import Rot
from andiron.sim.watcher import Violation
from andiron.sim.weather import Weather
from andiron.sim.world import BEGINS, World

PATIENCE_MS = 300_000  # for everyone to finish once it has cleared up
FINISHES = "everyone finishes in the end"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a seed."""

    seed: int
    mood: str
    digest: str
    lines: int
    simulated_ms: int
    boots: int
    acknowledged: int
    violation: Violation | None


def play(seed: int, tell: Callable[[str], None] | None = None) -> Outcome:
    """Play a seed to its end, or to the first violation; `tell` is given each line of its history."""
    game = _Game(seed, tell)
    violation = None
    try:
        game.play()
    except Violation as found:
        violation = found
        game.world.note("law", "is broken", str(found))
    world = game.world
    return Outcome(
        seed=seed,
        mood=game.plan.mood.name,
        digest=world.trace.digest(),
        lines=world.trace.count,
        simulated_ms=world.now - BEGINS,
        boots=game.host.boots,
        acknowledged=sum(each.acknowledged for each in game.clients if isinstance(each, Producer)),
        violation=violation,
    )


class _Game:
    """A world and everyone in it."""

    def __init__(self, seed: int, tell: Callable[[str], None] | None) -> None:
        self.world = World(seed, tell)
        self.plan = make_plan(seed, self.world.chance)
        self.network = Network(self.world)
        self.host = Host(self.world, self.network, self.plan.settings)
        self.host.background.flush_ms_max = self.plan.flush_ms
        mirrors, self._ledger, self._journal = Mirrors(), Ledger(), Journal()
        rot = Rot(mirrors, self.world.chance)
        self.weather = Weather(self.world, self.network, self.plan.mood, rot)
        laws = all_invariants(
            mirrors, self._ledger, self._journal, self.plan.checkpoint_ms, durable=self.plan.durable
        )
        self.world.watch([*laws, self.weather])
        self.clients = self._clients(self.plan)

    def play(self) -> None:
        self.host.start()
        self._begin(self.clients)
        self.weather.begin()
        self.world.run(Millis(BEGINS + self.plan.lasts_ms))
        self.weather.clear_up()
        self._finish()
        self._rest()
        self._restart()
        reader = Consumer(self.world, self.network, "reader", [t.name for t in self.plan.topics])
        self._begin([reader])
        self.clients.append(reader)
        self._finish()
        self._rest()

    def _clients(self, plan: Plan) -> list[Client]:
        place = self.world, self.network
        names = [topic.name for topic in plan.topics]
        return [
            Admin(
                *place,
                "admin",
                plan.topics,
                plan.variations,
                plan.admin_pace_ms,
                destructive=plan.destructive,
            ),
            *(Producer(*place, f"producer-{n}", h, self._ledger) for n, h in enumerate(plan.producers, 1)),
            *(Consumer(*place, f"consumer-{n}", topics) for n, topics in enumerate(plan.consumers, 1)),
            Inquirer(*place, "inquirer", names, plan.admin_pace_ms),
            *(
                Transactor(*place, f"transactor-{n}", habits, self._ledger, self._journal)
                for n, habits in enumerate(plan.transactors, 1)
            ),
            *(member(*place, f"member-{n}", habits) for n, (member, habits) in enumerate(plan.members, 1)),
        ]

    def _begin(self, clients: list[Client]) -> None:
        for client in clients:
            self.world.after(self.world.chance.randint(0, 500), client.begin)

    def _finish(self) -> None:
        """Let everyone do what is left to do; a partition that cannot sync needs a restart for that."""
        for client in self.clients:
            client.is_closing = True
        self.world.after(1_000, self._restart_if_failed)
        self.world.run(Millis(self.world.now + PATIENCE_MS), lambda: all(c.is_done for c in self.clients))
        for client in self.clients:
            if not client.is_done:
                raise Violation(FINISHES, f"{client.name} does not")

    def _restart_if_failed(self) -> None:
        node = self.host.node
        if node is not None and any(
            partition.failure for partition in (node.broker.metadata.partition, *node.broker.partitions)
        ):
            self.host.kill()

    def _rest(self) -> None:
        """Wait until nothing is under way; then ask what is too slow to be asked always."""
        self.world.run(
            Millis(self.world.now + PATIENCE_MS),
            lambda: self.host.is_open and self.host.is_idle and not self.host.links and self._is_at_rest(),
        )
        if not self.host.is_open:
            raise Violation(FINISHES, "the node does not come up")
        for watcher in self.world.watchers:
            watcher.rested(self.host)

    def _is_at_rest(self) -> bool:
        return not any(watcher.is_restless(self.host) for watcher in self.world.watchers)

    def _restart(self) -> None:
        self.world.chance.choice([self.host.stop, self.host.kill, self.host.lose_power])()
        boots = self.host.boots
        self.world.run(
            Millis(self.world.now + PATIENCE_MS), lambda: self.host.boots > boots and self.host.is_open
        )
