from andiron.copying.copy_options import CopyOptions


def test_unless_told_otherwise_all_that_is_committed_is_copied_once_with_its_offsets() -> None:
    wishes = CopyOptions()

    assert (wishes.topics, wishes.exclude, wishes.rate, wishes.replication_factor) == ((), (), None, None)
    assert (wishes.committed, wishes.keep_offsets) == (True, True)
    assert (wishes.follow, wishes.accept_loss) == (False, False)
