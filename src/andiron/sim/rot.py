"""Bits that turn over in files that were safely written, while the machine is off.

.log      payloads and checksums: fields outside the checksum (offset, length) are beyond what any
          broker can notice. Nobody may be shown the damaged batch as a good one, and everything before
          it must still be there. A recovery that meets it ends the log there, so the promises from
          there on are off, and the mirror is told so.
.index    anywhere. It is a hint about the log, so nothing is excused by it: what is looked up must be
          found all the same.
"""

from __future__ import annotations

import contextlib
import random

from andiron.log.layout import INDEX, LOG, folder_name
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicPartition
from andiron.records.batch import HEADER_SIZE, Batch, iterate
from andiron.sim.host import Host
from andiron.sim.mirror import Mirror, Mirrors

_CRC = range(17, 21)


class Rot:
    """Damages files, and says so to those who must know."""

    def __init__(self, mirrors: Mirrors, chance: random.Random) -> None:
        self._mirrors, self._chance = mirrors, chance

    def strike(self, host: Host) -> None:
        """Turn over one bit of a batch, or of an index."""
        newest = {mirror.name: mirror for key, mirror in self._mirrors.items() if key[0] == host.number}
        if self._chance.random() < 0.5:
            self._hit_index(host, newest)
        else:
            self._hit_log(host, newest)

    def _hit_index(self, host: Host, newest: dict[TopicPartition, Mirror]) -> None:
        for path, _ in self._files(host, newest, INDEX):
            if host.disk.read_file(path):
                position = host.disk.corrupt(self._chance, path)
                host.world.note(host.name, "rots", f"{path} at {position}")
                return

    def _hit_log(self, host: Host, newest: dict[TopicPartition, Mirror]) -> None:
        for path, mirror in self._files(host, newest, LOG):
            batches = _batches(host.disk.read_file(path), mirror)
            if batches:
                batch = self._chance.choice(batches)
                inside = range(batch.position + HEADER_SIZE, batch.position + batch.size)
                crc = range(batch.position + _CRC.start, batch.position + _CRC.stop)
                position = host.disk.corrupt(self._chance, path, inside or crc)
                mirror.damage(batch.base_offset, batch.next_offset)
                host.world.note(host.name, "rots", f"{path} at {position}, offset {batch.base_offset}")
                return

    def _files(self, host: Host, newest: dict[TopicPartition, Mirror], kind: str) -> list[tuple[str, Mirror]]:
        """The files of this kind of the partitions, in an order of their own each time."""
        found = []
        for directory in host.settings.log_dirs:
            for mirror in newest.values():
                folder = f"{directory}/{folder_name(mirror.name)}"
                names = [name for name in host.disk.names(folder) if name.endswith(kind)]
                found += [(f"{folder}/{name}", mirror) for name in names]
        self._chance.shuffle(found)
        return found


def _batches(data: bytes, mirror: Mirror) -> list[Batch]:
    """The good batches of a file, which may end in something else."""
    found = []
    with contextlib.suppress(ProtocolError):
        for batch in iterate(data):
            if mirror.start <= batch.base_offset < mirror.end and batch.is_intact():
                found.append(batch)
    return found
