"""A folder as `kafka-storage format` leaves it: whose it is, and what its cluster is to begin with."""

from andiron.controller.records import encode_record
from andiron.log.directory import Identity
from andiron.quorum.snapshot_format import SnapshotId, batches_of
from andiron.sim.disk import MemoryDisk


def formatted(*records):
    """A disk with such a folder; a record may be given as its bytes."""
    disk = MemoryDisk()
    disk.make_directory("/data")
    disk.write_file(
        "/data/meta.properties", Identity("4L6g3nShT-eMCtK--X86sw", 1, "TxmJpcr9S2OjUy5WejbzSQ").encode()
    )
    values = [each if isinstance(each, bytes) else encode_record(each) for each in records]
    batches = batches_of(SnapshotId(0, 0), 0, values)
    disk.write_file("/data/bootstrap.checkpoint", b"".join(map(bytes, batches)))
    return disk
