"""Bits that turn over in files that were safely written, while the machine is off.

Only payloads and checksums are hit, in the .log of a partition: the fields that lie outside the checksum
(offset, length) are beyond what any broker can notice. What must follow: nobody is ever shown the
damaged batch as a good one, and everything before it is still there. A recovery that meets it ends the
log there, so the promises from there on are off, and the mirror is told so.
"""

from __future__ import annotations

import contextlib
import random

from andiron.log.layout import LOG, folder_name
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
        """Turn over one bit of one batch of some log, if there is one."""
        newest = {mirror.name: mirror for key, mirror in self._mirrors.items() if key[0] == host.number}
        for path, mirror in self._logs(host, newest):
            batches = _batches(host.disk.read_file(path), mirror)
            if not batches:
                continue
            batch = self._chance.choice(batches)
            inside = range(batch.position + HEADER_SIZE, batch.position + batch.size)
            crc = range(batch.position + _CRC.start, batch.position + _CRC.stop)
            position = host.disk.corrupt(self._chance, path, inside or crc)
            mirror.damage(batch.base_offset, batch.next_offset)
            host.world.note(host.name, "rots", f"{path} at {position}, offset {batch.base_offset}")
            return

    def _logs(self, host: Host, newest: dict[TopicPartition, Mirror]) -> list[tuple[str, Mirror]]:
        """The .log files of the partitions, in an order of their own each time."""
        found = []
        for directory in host.settings.log_dirs:
            for mirror in newest.values():
                folder = f"{directory}/{folder_name(mirror.name)}"
                found += [
                    (f"{folder}/{name}", mirror) for name in host.disk.names(folder) if name.endswith(LOG)
                ]
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
