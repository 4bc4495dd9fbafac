"""What is kept of a damaged metadata log, and that nothing is thrown away."""

from andiron.log.damage import find_damage
from andiron.log.flushed_mark import FlushedMark
from andiron.log.mending import MendingPlan, mend, plan_mending
from unit.log.test_damage import LOG, batch, disk, flip, written  # noqa: F401


def harmed(disk):  # noqa: F811
    written(disk, batch(0), batch(3), batch(6))
    written(disk, batch(9), base=9)
    flip(disk, len(batch(0)) + 70)
    return find_damage(disk, "/m")


def bases(batches):
    return [each.base_offset for each in batches]


def test_without_a_snapshot_what_is_behind_is_lost(disk):  # noqa: F811
    plan = plan_mending(harmed(disk), 0)

    assert (plan.kept, bases(plan.lost)) == ([], [6, 9])


def test_a_snapshot_beyond_the_damage_saves_what_follows_it(disk):  # noqa: F811
    damage = harmed(disk)

    assert bases(plan_mending(damage, 6).kept) == [6, 9]
    assert bases(plan_mending(damage, 7).kept) == [6, 9], "a batch that it reaches into comes with it"
    assert bases(plan_mending(damage, 9).kept) == [9]
    assert plan_mending(damage, 12) == MendingPlan([], [])
    assert bases(plan_mending(damage, 4).lost) == [6, 9], "5 is in neither"


def test_the_log_is_cut_and_what_was_damaged_stays_beside_it(disk):  # noqa: F811
    damage, whole = harmed(disk), disk.read_file(LOG)
    FlushedMark(disk, "/m").raise_to(12)

    aside = mend(disk, "/m", damage, plan_mending(damage, 0))

    assert aside == [f"{LOG}.damaged", "/m/00000000000000000009.log.damaged"]
    assert disk.read_file(LOG) == batch(0)
    assert (disk.read_file(aside[0]), disk.read_file(aside[1])) == (whole, batch(9))
    assert find_damage(disk, "/m", FlushedMark(disk, "/m").load()) is None


def test_the_log_begins_where_the_snapshot_ends(disk):  # noqa: F811
    damage = harmed(disk)

    mend(disk, "/m", damage, plan_mending(damage, 6))

    assert not disk.exists(LOG)
    assert disk.read_file("/m/00000000000000000006.log") == batch(6) + batch(9)
    assert FlushedMark(disk, "/m").load() == 12


def test_a_second_mending_does_not_write_over_what_the_first_put_aside(disk):  # noqa: F811
    damage = harmed(disk)
    mend(disk, "/m", damage, plan_mending(damage, 0))
    flip(disk, 70)

    again = find_damage(disk, "/m")
    assert mend(disk, "/m", again, plan_mending(again, 0)) == [f"{LOG}.damaged-2"]
