"""A slice knows its length before anybody reads it."""

from andiron.log.disk import FileSlice
from andiron.sim.disk import MemoryDisk


def test_a_slice_is_as_long_as_it_says_and_reads_what_it_names():
    file = MemoryDisk().open("/x")
    file.append(b"0123456789")

    piece = FileSlice(file, 3, 4)
    assert len(piece) == 4
    assert piece.read() == b"3456"
