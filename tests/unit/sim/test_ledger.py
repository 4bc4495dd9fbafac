from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import Record, records_of
from andiron.sim.ledger import Ledger, same_contents

ORDERS = TopicPartition("orders", 0)


def written(ledger, **how):
    contents = [(100, b"k", b"v"), (101, b"k", None)]
    return ledger.write(ORDERS, contents, **{"codec": 0, "producer": (7, 0, 3), **how})


def test_a_batch_is_found_by_any_of_its_records():
    ledger = Ledger()
    first, second = written(ledger), written(ledger)
    for sent in (first, second):
        for record in records_of(Batch(sent.data)):
            assert ledger.find(record) is sent
    assert ledger.find(Record(0, 0, None, b"made up")) is None
    assert len(ledger) == 2


def test_a_batch_has_its_producers_numbers():
    batch = Batch(written(Ledger()).data)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.count) == (7, 0, 3, 2)
    assert batch.is_intact()


def test_contents_are_the_same_record_by_record():
    sent = written(Ledger(), codec=1)
    batch = Batch(sent.data)
    stored = list(records_of(batch))
    assert same_contents(sent, batch, stored)
    assert not same_contents(sent, batch, stored[:1])
    assert not same_contents(sent, batch, [stored[0], stored[1]._replace(value=b"")])
    assert not same_contents(sent, batch, [stored[0], stored[1]._replace(timestamp=5)])
