from dataclasses import replace

import pytest

from andiron.model.ids import Millis
from andiron.sim.clients.consumer_member import ConsumerMember
from andiron.sim.watcher import Violation
from unit.sim.clients.test_member import crowd
from unit.sim.clients.test_transactor import BUMPING, finish, transacting
from unit.sim.quiet import Quiet


def test_a_transaction_that_is_not_as_its_log_has_it_is_noticed():
    quiet = Quiet()
    finish(quiet, transacting(quiet, **BUMPING))
    for shard in quiet.host.node.broker.transactions.shards:
        transactions = shard.machine.transactions
        for name, transaction in transactions.items():
            transactions[name] = replace(transaction, updated_at=Millis(transaction.updated_at + 1))
    with pytest.raises(Violation, match="replay of its log"):
        quiet.rest()


def test_a_stop_is_a_time_to_look_at_groups_too():
    quiet = Quiet()
    crowd(quiet, ConsumerMember)
    quiet.run(10_000)
    quiet.host.stop()
    quiet.run(10_000)
    assert not quiet.host.is_up
    quiet.boot()
    quiet.run(5_000)
    for shard in quiet.host.node.broker.groups.shards:
        for group in shard.machine.groups.values():
            group.epoch += 1
    with pytest.raises(Violation, match="replay of its log"):
        quiet.restart(quiet.host.stop)
