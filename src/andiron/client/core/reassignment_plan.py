"""Plans reassignments: replicas spread over brokers and racks, leaders evened out, few replicas moved.

    now            brokers 1-4 may be used        after: one replica moved, none of them twice on a broker
    p0  1 2        broker 4 is new                p0  1 2
    p1  2 3                                       p1  2 4   ◀── broker 3 had too many
    p2  3 1                                       p2  3 1
    p3  2 3                                       p3  4 3   ◀── broker 2 too

Four steps, each of which moves only what it must:

    keep      replicas on brokers that may be used stay
    fill      each one that is missing goes to the broker with the fewest, in a rack the partition lacks
    racks     a partition with two replicas in one rack, and none in another, has one moved
    level     from the broker with the most to one with fewer by two, as long as no rack is lost

Then leaders: the order of replicas says who leads, and changing it moves no data. So leadership is levelled
last, along a path of swaps where no single one would do.

The law: racks come before even loads. Where one rack is smaller than the others, its brokers have more.

Without racks no plan that is as even moves less. With racks to be mended it may move one replica more than the
best plan would: each partition is looked at by itself.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from andiron.client.core.reassignments import Assignment, PlanError
from andiron.model.ids import TopicPartition

Racks = Mapping[int, str | None]


def spread(
    current: Assignment,
    brokers: Racks,
    replication_factor: int | None = None,
    elsewhere: Assignment | None = None,
    stay: Racks | None = None,
    *,
    level: bool = True,
) -> dict[TopicPartition, list[int]]:
    """New replicas for each partition on these brokers, given with their racks.

    What the brokers have `elsewhere`, in partitions that stay as they are, counts for who has the fewest.
    Brokers that `stay` keep what they have and get no more. Without `level` only those replicas move which
    have to.
    """
    plan = _Plan(brokers, elsewhere or {}, stay or {})
    for partition in sorted(current):
        wanted = replication_factor or len(current[partition])
        if wanted > len({*brokers, *(each for each in current[partition] if each in (stay or {}))}):
            raise PlanError(_too_few(partition, wanted, sorted(brokers)))
        plan.keep(partition, current[partition], wanted)
    for partition in sorted(current):
        plan.fill(partition, replication_factor or len(current[partition]))
    if level:
        for partition in sorted(current):
            plan.mend_racks(partition)
        plan.level()
    plan.level_leaders()
    return plan.replicas


def without(
    broker: int, assignment: Assignment, brokers: Racks, fenced: Racks | None = None
) -> tuple[dict[TopicPartition, list[int]], dict[TopicPartition, list[int]]]:
    """A plan that takes all replicas off a broker: (as they are, as they are to be), of the partitions it has.

    Other brokers that are `fenced` get nothing and lose nothing: they may come back.
    """
    left = {each: rack for each, rack in brokers.items() if each != broker}
    stay = {each: rack for each, rack in (fenced or {}).items() if each != broker}
    concerned = {each: list(replicas) for each, replicas in assignment.items() if broker in replicas}
    elsewhere = {each: replicas for each, replicas in assignment.items() if each not in concerned}
    return concerned, spread(concerned, left, None, elsewhere, stay, level=False)


def leaders_away(broker: int, assignment: Assignment, in_sync: Assignment) -> dict[TopicPartition, list[int]]:
    """The replicas of partitions that prefer a broker, in an order in which they prefer another.

    Only a replica that is in sync can lead. A partition with no other one is left out.
    """
    preferred = Counter(replicas[0] for replicas in assignment.values() if replicas)
    plan: dict[TopicPartition, list[int]] = {}
    for partition in sorted(assignment):
        replicas = list(assignment[partition])
        others = [each for each in replicas if each != broker]
        able = [each for each in others if each in in_sync[partition]]
        if replicas[:1] == [broker] and able:
            first = min(able, key=lambda each: (preferred[each], replicas.index(each)))
            preferred[first] += 1
            plan[partition] = [first, *(each for each in others if each != first), broker]
    return plan


def _too_few(partition: TopicPartition, wanted: int, brokers: Sequence[int]) -> str:
    numbers = ", ".join(map(str, brokers)) or "none"
    return (
        f"{partition.topic} has {wanted} replicas of each partition, and only {len(brokers)} brokers are left "
        f"for them ({numbers}); add a broker first, or ask for fewer replicas with --replication-factor"
    )


class _Plan:
    """The replicas so far, and how many each broker has."""

    def __init__(self, brokers: Racks, elsewhere: Assignment, stay: Racks) -> None:
        self.replicas: dict[TopicPartition, list[int]] = {}
        self._racks = {**stay, **brokers}
        self._takers = sorted(brokers)
        self._has: dict[int, dict[TopicPartition, None]] = {each: {} for each in sorted(self._racks)}
        self._load = Counter(each for replicas in elsewhere.values() for each in replicas)
        self._led = Counter(replicas[0] for replicas in elsewhere.values() if replicas)
        self._fresh: set[tuple[TopicPartition, int]] = set()  # replicas that are new anyway
        self._rack_count = len({self._rack(each) for each in brokers})

    # ── the steps ────────────────────────────────────────────────────────────────────

    def keep(self, partition: TopicPartition, replicas: Sequence[int], wanted: int) -> None:
        """Those that may stay; where there are too many, those stay that have a rack for themselves."""
        kept = [each for each in replicas if each in self._racks]
        while len(kept) > wanted:
            racks = Counter(map(self._rack, kept))
            doubled = [each for each in kept if racks[self._rack(each)] > 1]
            kept.remove((doubled or kept)[-1])
        self.replicas[partition] = []
        for each in kept:
            self._put(partition, each, len(self.replicas[partition]))

    def fill(self, partition: TopicPartition, wanted: int) -> None:
        """Replicas for the places that are empty."""
        while len(self.replicas[partition]) < wanted:
            mine = self.replicas[partition]
            racks = set(map(self._rack, mine))
            free = [each for each in self._takers if each not in mine]
            chosen = min(free, key=lambda each: (self._rack(each) in racks, self._load[each], each))
            self._fresh.add((partition, chosen))
            self._put(partition, chosen, len(mine))

    def mend_racks(self, partition: TopicPartition) -> None:
        """As many racks as there can be."""
        mine = self.replicas[partition]
        while True:
            racks = Counter(map(self._rack, mine))
            if len(racks) >= min(len(mine), self._rack_count):
                return
            leaving = max(
                (each for each in mine if racks[self._rack(each)] > 1),
                key=lambda each: ((partition, each) in self._fresh, self._load[each], mine.index(each)),
            )
            lacking = [each for each in self._takers if self._rack(each) not in racks]
            self._move(partition, leaving, min(lacking, key=lambda each: (self._load[each], each)))

    def level(self) -> None:
        """Even loads, as far as racks let them be."""
        while self._level_once():
            pass

    def level_leaders(self) -> None:
        """As even a number of partitions to prefer each broker as can be had by changing the order."""
        while path := self._leader_path():
            for partition, giving, taking in path:
                mine = self.replicas[partition]
                at = mine.index(taking)
                mine[0], mine[at] = taking, giving
                self._led[giving] -= 1
                self._led[taking] += 1

    # ── how ──────────────────────────────────────────────────────────────────────────

    def _rack(self, broker: int) -> str:
        """Brokers that tell no rack are one each, so that they keep nobody away."""
        rack = self._racks[broker]
        return f"\0{broker}" if rack is None else rack

    def _put(self, partition: TopicPartition, broker: int, at: int) -> None:
        self.replicas[partition].insert(at, broker)
        self._has[broker][partition] = None
        self._load[broker] += 1
        if at == 0:
            self._led[broker] += 1

    def _move(self, partition: TopicPartition, leaving: int, coming: int) -> None:
        at = self.replicas[partition].index(leaving)
        del self.replicas[partition][at]
        del self._has[leaving][partition]
        self._load[leaving] -= 1
        if at == 0:
            self._led[leaving] -= 1
        self._fresh.discard((partition, leaving))
        self._fresh.add((partition, coming))
        self._put(partition, coming, at)

    def _level_once(self) -> bool:
        by_load = sorted(self._has, key=lambda each: (self._load[each], each))
        for giving in reversed(by_load):
            for taking in (each for each in by_load if each in self._takers):
                if self._load[giving] - self._load[taking] < 2:
                    break
                movable = [each for each in self._has[giving] if self._may_move(each, giving, taking)]
                if movable:
                    # One that is new anyway costs nothing; a follower is moved sooner than a leader.
                    best = max(
                        movable,
                        key=lambda each: (
                            (each, giving) in self._fresh,
                            self.replicas[each][0] != giving,
                        ),
                    )
                    self._move(best, giving, taking)
                    return True
        return False

    def _may_move(self, partition: TopicPartition, giving: int, taking: int) -> bool:
        mine = self.replicas[partition]
        if taking in mine:
            return False
        racks = {self._rack(each) for each in mine if each != giving}
        return self._rack(taking) not in racks or self._rack(giving) in racks

    def _leader_path(self) -> list[tuple[TopicPartition, int, int]]:
        """Partitions to hand on, from the broker preferred most often to one that is less so by two."""
        for start in sorted(self._has, key=lambda each: -self._led[each]):
            found = self._path_from(start)
            if found:
                return found
        return []

    def _path_from(self, start: int) -> list[tuple[TopicPartition, int, int]]:
        came: dict[int, tuple[TopicPartition, int]] = {}
        queue = deque([start])
        while queue:
            giving = queue.popleft()
            if self._led[giving] <= self._led[start] - 2:
                return _walk_back(came, start, giving)
            for partition in self._has[giving]:
                mine = self.replicas[partition]
                for taking in mine[1:] if mine[0] == giving else ():
                    if taking != start and taking not in came:
                        came[taking] = (partition, giving)
                        queue.append(taking)
        return []


def _walk_back(
    came: Mapping[int, tuple[TopicPartition, int]], start: int, end: int
) -> list[tuple[TopicPartition, int, int]]:
    path: list[tuple[TopicPartition, int, int]] = []
    while end != start:
        partition, giving = came[end]
        path.append((partition, giving, end))
        end = giving
    return path[::-1]


def moved(before: Assignment, after: Assignment) -> int:
    """How many replicas a plan copies to brokers that did not have them."""
    return sum(len(set(after[each]) - set(before[each])) for each in after)


def brokers_of(replicas: Iterable[Sequence[int]]) -> list[int]:
    """Every broker among them, in order."""
    return sorted({each for some in replicas for each in some})
