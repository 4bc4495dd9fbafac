"""A bank on transactions: tellers of every library move money about, are killed and change their minds; none is lost.

An account is a key of a topic, and its balance the sum of what is written under it. A transfer is a transaction
of two records, on two partitions as a rule: so much less here, so much more there, and the number of the order in the
teller's offsets. Whoever reads with read_committed finds every transfer whole or not at all, but for the moment in
which its markers are being written, and so the same sum at any time. `ANDIRON_KILL_ROUNDS=100` for the long run.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from peers import clients
from peers.committed import committed_offsets
from peers.process import Server
from peers.transactors import Transactor, installed
from peers.waiting import eventually

ROUNDS = int(os.environ.get("ANDIRON_KILL_ROUNDS", "5"))
TRANSFERS = 2  # a round, by each teller
ACCOUNTS, PARTITIONS = 8, 4
DEPOSIT = 100
FATES = ["commit"] * 4 + ["abort"] * 2 + ["die halfway", "die before", "die after"]
DONE = object()


class Teller:
    """One library's hand: it carries out one order after another, and remembers what became of them."""

    def __init__(self, library: str, bootstrap: str, topic: str) -> None:
        self.library = library
        self.bootstrap = bootstrap
        self.topic = topic
        self.name = f"{topic}-{library}"
        self.orders = 0
        self.committed: set[str] = set()
        self.undone: set[str] = set()
        self.process = Transactor(library, bootstrap).open(self.name)

    def transfer(self, chance: random.Random) -> Iterator[None]:
        """Move some money, a step at a time; sometimes think better of it, or die at it."""
        order = f"{self.library} {self.orders}"
        source, target = chance.sample(range(ACCOUNTS), 2)
        amount = chance.randrange(1, 50)
        fate = chance.choice(
            ["commit", "commit", "commit", "abort", "die halfway", "die before", "die after"]
        )
        self.process.call("begin")
        self._book(source, -amount, order)
        yield
        if fate == "die halfway":
            return self._die(order)
        self._book(target, amount, order)
        self.process.call("offsets", group=self.name, topic=self.topic, offsets={0: self.orders + 1})
        yield
        if fate == "die before":
            return self._die(order)
        if fate == "abort":
            self.process.call("abort")
            self.undone.add(order)
            return None
        self.process.say("commit")
        if fate == "die after":  # whether this order went through, nobody but the log knows
            return self._die(None)
        self.process.hear()
        self.committed.add(order)
        self.orders += 1
        return None

    def _book(self, account: int, amount: int, order: str) -> None:
        self.process.send(self.topic, f"{account}:{amount}:{order}", partition=account % PARTITIONS)

    def _die(self, undone: str | None) -> None:
        """Killed, and replaced by another of the same name, who asks the group how far it was."""
        self.process.kill()
        if undone is not None:
            self.undone.add(undone)
        self.process = Transactor(self.library, self.bootstrap).open(self.name)
        done = self.committed_orders()
        assert done - self.orders in ((0, 1) if undone is None else (0,))
        if undone is None:
            (self.committed if done > self.orders else self.undone).add(f"{self.library} {self.orders}")
        self.orders = done

    def committed_orders(self) -> int:
        """How far the teller is, by the offsets that went with its transfers."""
        return committed_offsets(self.bootstrap, self.name, self.topic).get(0, 0)


@pytest.fixture
def bank(node: Server, make_topic: Callable[..., str]) -> Iterator[list[Teller]]:
    topic = make_topic(partitions=PARTITIONS)
    tellers = [Teller(library, node.bootstrap, topic) for library in installed()]
    for account in range(ACCOUNTS):
        deposit = f"{account}:{DEPOSIT}:deposit"
        tellers[0].process.write(topic, deposit, partition=account % PARTITIONS)
    yield tellers
    for teller in tellers:
        teller.process.kill()


@pytest.mark.slow
def test_no_money_is_lost_or_made(bank: list[Teller]) -> None:
    chance = random.Random(ROUNDS)
    for number in range(ROUNDS):
        reader = bank[number % len(bank)].library
        for _ in range(TRANSFERS):
            at_work = [teller.transfer(chance) for teller in bank]
            for transfer in at_work:
                next(transfer)
            if chance.random() < 0.3:
                check_books(bank, reader)
            while at_work:
                one = chance.choice(at_work)
                if next(one, DONE) is DONE:
                    at_work.remove(one)
        check_books(bank, reader)
        for teller in bank:
            assert teller.committed_orders() == teller.orders


def check_books(bank: list[Teller], reader: str) -> None:
    """Every order in the books is balanced, and is one of those that went through; so nothing is lost or made."""
    books: dict[str, list[int]] = {}

    def balanced() -> bool:
        books.clear()
        books.update(read_books(bank[0], reader))
        return all(sum(amounts) == 0 for order, amounts in books.items() if order != "deposit")

    eventually(balanced)
    assert sum(map(sum, books.values())) == ACCOUNTS * DEPOSIT
    assert books.keys() - {"deposit"} == set().union(*(teller.committed for teller in bank))
    assert {len(amounts) for order, amounts in books.items() if order != "deposit"} <= {2}


def read_books(teller: Teller, reader: str) -> dict[str, list[int]]:
    """Order → the amounts booked under it, on all partitions."""
    client = clients.connect(reader, teller.bootstrap)
    books: dict[str, list[int]] = defaultdict(list)
    for partition in range(PARTITIONS):
        for record in client.read_all(teller.topic, partition=partition, committed=True):
            _, amount, order = (record.value or b"").decode().split(":")
            books[order].append(int(amount))
    return books
