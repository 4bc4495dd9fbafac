import pytest

from andiron.model.ids import TopicPartition
from andiron.sim.clients.transactor import Transactor, TransactorHabits
from andiron.sim.invariants.atomicity import committed_offset
from andiron.transactions.states import State
from unit.sim.quiet import Quiet

BUMPING = {"bumping": True, "haunted": 0.3}
CLASSIC = {"bumping": False, "haunted": 0.3}
TWO_PHASE = {"bumping": True, "two_phase": True, "fragility": 0.1}


def transacting(quiet, count=1, **how):
    for topic in ("input", "output", "__consumer_offsets", "__transaction_state"):
        quiet.create(topic, partitions=2)
    habits = {
        "transactional_id": "t", "group": "g", "place": TopicPartition("input", 0), "topics": ["output"],
        "transactions": 20, "pace_ms": 50, "timeout_ms": 2_000, **how,
    }  # fmt: skip
    made = [
        Transactor(
            quiet.world, quiet.network, f"transactor-{number}", TransactorHabits(**habits),
            quiet.ledger, quiet.journal,
        )
        for number in range(count)
    ]  # fmt: skip
    for each in made:
        each.begin()
    return made


def finish(quiet, transactors):
    quiet.run(60_000)
    for each in transactors:
        each.is_closing = True
    quiet.run(60_000, until=lambda: all(each.is_done for each in transactors))
    assert all(each.is_done for each in transactors)
    quiet.run(20_000)
    quiet.rest()  # looked over by all laws, invariants/atomicity.py above all


@pytest.mark.parametrize("how", [BUMPING, CLASSIC, TWO_PHASE])
def test_one_gets_on_with_its_transactions(how):
    quiet = Quiet()
    (only,) = made = transacting(quiet, **how)
    finish(quiet, made)
    assert only.committed > 5
    reached = max(effort.stop for effort in quiet.journal.efforts if effort.told)
    assert committed_offset(quiet.world, "g", "input", 0) == reached


@pytest.mark.parametrize("how", [BUMPING, CLASSIC, TWO_PHASE])
def test_two_that_share_an_id_drive_each_other_out_and_get_on(how):
    quiet = Quiet(5)
    made = transacting(quiet, count=2, **how)
    finish(quiet, made)
    assert all(each.committed for each in made)


def test_what_was_prepared_is_finished_by_whoever_comes_next():
    quiet = Quiet(3)
    made = transacting(quiet, **TWO_PHASE | {"fragility": 0.3})
    finish(quiet, made)
    states = [
        transaction.state
        for shard in quiet.host.node.broker.transactions.shards
        for transaction in shard.machine.transactions.values()
    ]
    assert all(state in (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT) for state in states)
