"""Transactions: each of several records on several partitions, committed or aborted, and whole or not at all.

    begin ─▶ records t:0 … t:n ─▶ commit ─▶ committed        all of them are read, once
                                  abort  ─▶ aborted          none of them is
                                  an error that leaves it open which ─▶ unknown: all, or none

A transaction that has to be aborted is; a producer that is of no more use is replaced by another of the same name,
whose first deed is to end what the one before has left.
"""

from __future__ import annotations

import random
import threading
import traceback
from collections.abc import Callable

from confluent_kafka import KafkaException, Producer

from chaos.writers.base import DELIVERY_MS
from chaos.writers.confluent import QUIET

PATIENCE_S = 120.0
RECORDS_MAX = 6


class Banker:
    """One transactional id, transactions one after the other until `stop`."""

    def __init__(self, name: str, bootstrap: str, topic: str, partitions: int, seed: int) -> None:
        self.name, self.bootstrap, self.topic, self.partitions = name, bootstrap, topic, partitions
        self.committed: dict[int, int] = {}  # transaction → how many records it has
        self.aborted: dict[int, int] = {}
        self.unknown: dict[int, int] = {}
        self.replaced = 0  # producers
        self.complaints: list[str] = []  # what was said when a transaction had to be given up
        self.fatal: list[str] = []  # that a producer which does nothing wrong should never hear
        self.problem: str | None = None
        self._chance = random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(2 * PATIENCE_S)
        if self._thread.is_alive():
            self.problem = self.problem or f"{self.name} did not come to its end"

    @property
    def progress(self) -> int:
        return len(self.committed)

    def _guarded(self) -> None:
        try:
            self._work()
        except Exception:
            self.problem = traceback.format_exc()

    def _work(self) -> None:
        producer = self._opened()
        number = 0
        while not self._over.wait(0.02):
            records = self._chance.randrange(2, RECORDS_MAX + 1)
            try:
                self._transact(producer, number, records)
            except KafkaException as error:
                producer = self._recovered(producer, number, error)
            number += 1

    def _transact(self, producer: Producer, number: int, records: int) -> None:
        producer.begin_transaction()
        self.aborted[number] = records  # until a commit is asked for, it can only be aborted
        for at in range(records):
            partition = (number + at) % self.partitions
            producer.produce(self.topic, f"{self.name}:{number}:{at}".encode(), partition=partition)
        if self._chance.random() < 0.2:
            producer.flush(PATIENCE_S)
            patiently(producer.abort_transaction)
            return
        self.unknown[number] = self.aborted.pop(number)
        patiently(producer.commit_transaction)
        self.committed[number] = self.unknown.pop(number)

    def _recovered(self, producer: Producer, number: int, error: KafkaException) -> Producer:
        """Abort what must be, or begin anew under the same name."""
        cause = error.args[0]
        self.complaints.append(f"{number}: {cause}")
        if cause.txn_requires_abort():
            try:
                patiently(producer.abort_transaction)
            except KafkaException as again:
                self.complaints.append(f"{number}: {again.args[0]}")
            else:
                if number in self.unknown:
                    self.aborted[number] = self.unknown.pop(number)
                return producer
        self.replaced += 1
        if cause.fatal():
            self.fatal.append(str(cause))
        return self._opened()

    def _opened(self) -> Producer:
        told = {"bootstrap.servers": self.bootstrap, "transactional.id": self.name, "linger.ms": 2}
        told |= {"message.timeout.ms": DELIVERY_MS // 3, "transaction.timeout.ms": DELIVERY_MS // 3}
        producer = Producer(QUIET | told)
        patiently(producer.init_transactions)
        return producer


def patiently(call: Callable[[float], object]) -> None:
    """Again as long as the library says that this is all there is to do."""
    while True:
        try:
            call(PATIENCE_S)
            return
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
