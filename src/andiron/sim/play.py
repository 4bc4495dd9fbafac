"""A seed, played: a world is made from it, lives through its weather, comes to rest and is looked over.

    begin ── weather, clients at work ── clears up ── clients finish ── rest ── one more restart ── rest

After the last restart a new consumer reads everything there is: what was promised is not only on
the disk but can be had.

The outcome tells how it went; a violation is an outcome, not an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from andiron.broker.node.slice_sizes import slices_of
from andiron.model.ids import Millis
from andiron.sim.clients.admin import Admin, AdminHabits
from andiron.sim.clients.client import Client
from andiron.sim.clients.consumer import Consumer
from andiron.sim.clients.inquirer import Inquirer
from andiron.sim.clients.mover import Mover
from andiron.sim.clients.operator import Operator
from andiron.sim.clients.producer import Producer
from andiron.sim.clients.stranger import Stranger
from andiron.sim.clients.transactor import Transactor
from andiron.sim.clustered import CLUSTER_ID
from andiron.sim.host import Host
from andiron.sim.invariants import all_invariants
from andiron.sim.journal import Journal
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirrors
from andiron.sim.network import Network
from andiron.sim.plan import Plan, make_plan
from andiron.sim.rot import Rot
from andiron.sim.watcher import ASKED, Violation
from andiron.sim.weather import Weather
from andiron.sim.world import BEGINS, World

PATIENCE_MS = 300_000  # for everyone to finish once it has cleared up
FINISHES = "everyone finishes in the end"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a seed."""

    seed: int
    nodes: int  # that are brokers
    mood: str
    digest: str
    lines: int
    simulated_ms: int
    boots: int
    acknowledged: int
    violation: Violation | None


def play(
    seed: int,
    tell: Callable[[str], None] | None = None,
    *,
    nodes: int | None = None,
    mood: str | None = None,
) -> Outcome:
    """Play a seed to its end, or to the first violation; `tell` is given each line of its history. It says itself how
    many nodes there are and how bad it gets, unless `nodes` and `mood` do."""
    game = _Game(seed, tell, nodes, mood)
    violation = None
    try:
        with slices_of(game.plan.mood.slice):
            game.play()
    except Violation as found:
        violation = found
    except Exception as error:
        violation = Violation(ASKED, repr(error))
        violation.__cause__ = error
    if violation is not None:
        game.world.note("law", "is broken", str(violation))
    world = game.world
    return Outcome(
        seed=seed,
        nodes=len([host for host in game.hosts if "broker" in host.settings.roles]),
        mood=game.plan.mood.name,
        digest=world.trace.digest(),
        lines=world.trace.count,
        simulated_ms=world.now - BEGINS,
        boots=sum(host.boots for host in game.hosts),
        acknowledged=sum(each.acknowledged for each in game.clients if isinstance(each, Producer)),
        violation=violation,
    )


class _Game:
    """A world and everyone in it."""

    def __init__(
        self, seed: int, tell: Callable[[str], None] | None, nodes: int | None, mood: str | None
    ) -> None:
        self.world = World(seed, tell)
        self.plan = make_plan(seed, self.world.chance, nodes, mood)
        self.network = Network(self.world)
        self.hosts = [Host(self.world, self.network, settings) for settings in self.plan.settings]
        for host, skew_ms in zip(self.hosts, self.plan.skews, strict=False):
            host.background.flush_ms_max = self.plan.flush_ms
            host.clock.jump(skew_ms)
            if len(self.hosts) > 1:
                host.format(CLUSTER_ID)
        mirrors, self._ledger, self._journal = Mirrors(), Ledger(), Journal()
        rot = Rot(mirrors, self.world.chance)
        self.weather = Weather(
            self.world, self.network, self.plan.mood, rot, clocks_set_ms=self.plan.clocks_set_ms
        )
        laws = all_invariants(
            mirrors, self._ledger, self._journal, self.plan.checkpoint_ms, durable=self.plan.durable,
            nodes=len(self.hosts),
        )  # fmt: skip
        self.world.watch([*laws, self.weather])
        self.clients = self._clients(self.plan)

    def play(self) -> None:
        for host in self.hosts:
            host.start()
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
                AdminHabits(plan.variations, plan.admin_pace_ms, plan.destructive),
            ),
            *(Producer(*place, f"producer-{n}", h, self._ledger) for n, h in enumerate(plan.producers, 1)),
            *(Consumer(*place, f"consumer-{n}", topics) for n, topics in enumerate(plan.consumers, 1)),
            Inquirer(*place, "inquirer", names, plan.admin_pace_ms),
            *(
                Transactor(*place, f"transactor-{n}", habits, self._ledger, self._journal)
                for n, habits in enumerate(plan.transactors, 1)
            ),
            *(member(*place, f"member-{n}", habits) for n, (member, habits) in enumerate(plan.members, 1)),
            *([self._operator(plan, names)] if plan.operator_pace_ms else []),
            *self._movers(plan, names),
            *([Stranger(*place, "stranger", plan.stranger_pace_ms)] if plan.stranger_pace_ms else []),
        ]

    def _movers(self, plan: Plan, topics: list[str]) -> list[Mover]:
        """One who moves replicas between directories, where there are several."""
        directories = plan.properties["log.dirs"].split(",")
        if len(directories) == 1:
            return []
        return [Mover(self.world, self.network, "mover", topics, directories, plan.admin_pace_ms)]

    def _operator(self, plan: Plan, topics: list[str]) -> Operator:
        return Operator(
            self.world, self.network, "operator", topics, plan.operator_pace_ms,
            changes_voters=plan.changes_voters,
        )  # fmt: skip

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
        for host in self.hosts:
            node = host.node
            if node is not None and any(
                partition.failure for partition in (node.broker.raft.partition, *node.broker.replica_manager)
            ):
                host.kill()

    def _rest(self) -> None:
        """Wait until nothing is under way; then ask what is too slow to be asked always."""
        self.world.run(Millis(self.world.now + PATIENCE_MS), self._is_at_rest)
        for host in self.hosts:
            if not host.is_open:
                raise Violation(FINISHES, "the node does not come up")
        for host in self.hosts:
            for watcher in self.world.watchers:
                watcher.rested(host)

    def _is_at_rest(self) -> bool:
        return all(host.is_open and host.is_idle and not host.links for host in self.hosts) and not any(
            watcher.is_restless(host) for host in self.hosts for watcher in self.world.watchers
        )

    def _restart(self) -> None:
        """All of them at once, by the same end or each by its own."""
        chance = self.world.chance
        boots = [host.boots for host in self.hosts]
        end = chance.choice([Host.stop, Host.kill, Host.lose_power])
        for host in self.hosts:
            end(host)
            if len(self.hosts) > 1 and chance.random() < 0.5:
                end = chance.choice([Host.stop, Host.kill, Host.lose_power])
        self.world.run(
            Millis(self.world.now + PATIENCE_MS),
            lambda: all(
                host.boots > before and host.is_open for host, before in zip(self.hosts, boots, strict=True)
            ),
        )
