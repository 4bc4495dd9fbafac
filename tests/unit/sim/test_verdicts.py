from andiron.model.ids import Millis
from andiron.sim.mirror import StoredBatch
from andiron.sim.verdicts import Verdict, Verdicts


def batch(base, producer, *, transactional=True, marker=None):
    return StoredBatch(base, base + 1, (producer, 0), 0, 0, 0, Millis(0), transactional, marker)


def test_a_transaction_is_open_until_its_marker_comes():
    verdicts = Verdicts([batch(0, 7), batch(1, 9), batch(2, 7), batch(3, 7, marker=True)])
    assert [verdicts.of(base) for base in (0, 2)] == [Verdict.COMMITTED] * 2
    assert (verdicts.of(1), verdicts.first_open(), verdicts.writers()) == (Verdict.OPEN, 1, [9])
    verdicts.add(batch(4, 9, marker=False))
    assert (verdicts.of(1), verdicts.first_open(), verdicts.undecided()) == (Verdict.ABORTED, None, [])
    assert verdicts.decides == {3: (0, 2), 4: (1,)}


def test_what_is_in_no_transaction_counts_and_a_marker_is_one():
    verdicts = Verdicts([batch(0, 7, transactional=False), batch(1, 7, marker=True)])
    assert (verdicts.of(0), verdicts.of(1), verdicts.decides[1]) == (Verdict.PLAIN, Verdict.MARKER, ())
