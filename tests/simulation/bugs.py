"""Bugs that could be there, planted one at a time: what the simulator is worth shows in whether it finds them.

Each is a change of a line or two to the code that ships, of the kind people really make. A planted bug
is in effect inside `with planted(name):` and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from unittest.mock import patch

from andiron.broker.handlers import delete_records
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_moves import ReplicaMoves
from andiron.log import producers, recovery
from andiron.log.batch_filter import BatchFilter, DeleteHorizon
from andiron.log.checkpoints import CLEANED_UPTO, LOG_STARTS
from andiron.log.flush_state import FlushState
from andiron.log.producers import Producers
from andiron.log.segment import Segment
from andiron.records.validate import check_produced
from andiron.replication.leader import LeaderReplica

BUGS: dict[str, Callable[[], object]] = {}


def bug(plant: Callable[[], object]) -> Callable[[], object]:
    BUGS[plant.__name__] = plant
    return plant


@contextmanager
def planted(name: str) -> Iterator[None]:
    with BUGS[name]():  # type: ignore[attr-defined]
        yield


@bug
def a_lookup_is_off_by_one():
    found = Segment.position_of
    return patch.object(Segment, "position_of", lambda self, offset: found(self, offset + 1))


@bug
def recovery_does_not_look_at_checksums():
    trouble = recovery._Opening._trouble

    def without_crc(self, segment, batch, end):
        with patch.object(type(batch), "is_intact", lambda _: True):
            return trouble(self, segment, batch, end)

    return patch.object(recovery._Opening, "_trouble", without_crc)


@bug
def recovery_keeps_a_torn_batch():
    return patch.object(Segment, "cut", lambda self, position: setattr(self, "size", self.file.size))


@bug
def the_dedupe_window_is_too_short():
    return patch.object(producers, "REMEMBERED_BATCHES", 1)


@bug
def a_batch_is_taken_at_its_headers_word():
    def header_alone(records, limits, now, zstd, allowance):
        return check_produced(records, limits.max_message_bytes, zstd=zstd)

    return patch("andiron.broker.replicas.partition.check_batch", header_alone)


@bug
def producers_are_forgotten_by_a_restart():
    return patch.object(recovery, "replay_producers", lambda *args, **kwargs: Producers())


@bug
def compaction_drops_tombstones_at_once():
    keep = BatchFilter._keep_data

    def early(self, batch):
        with patch.object(DeleteHorizon, "has_passed", lambda self, horizon: horizon is not None):
            return keep(self, batch)

    return patch.object(BatchFilter, "_keep_data", early)


@bug
def the_watermark_runs_ahead_of_the_disk():
    def hasty(self, end):
        self.end = end
        return self._advance(end)

    return patch.object(LeaderReplica, "appended", hasty)


@bug
def producers_are_answered_before_the_fsync():
    return patch.object(Partition, "acknowledged", lambda self, written, acks: True)


@bug
def a_flush_vouches_for_what_came_after_it_began():
    done = FlushState.done
    return patch.object(FlushState, "done", lambda self, end: done(self, end + 3))


@bug
def metadata_takes_effect_before_it_is_committed():
    def end(self):
        with suppress(AttributeError):
            return self.partition.log.end
        return 0

    return patch.multiple(
        MetadataLoader,
        has_news=lambda self: self.applied < end(self),
        apply=_applying(end),
    )


def _applying(end):
    apply = MetadataLoader.apply

    def early(self):
        partition = self.partition
        leader = partition._leader
        watermark, leader.watermark = leader.watermark, end(self)
        try:
            return apply(self)
        finally:
            leader.watermark = watermark

    return early


@bug
def the_log_start_is_not_written_down():
    save = LogDirectories.save

    def forgetful(self, checkpoint, offsets, unopened=()):
        if checkpoint != LOG_STARTS:
            save(self, checkpoint, offsets, unopened)

    return patch.object(LogDirectories, "save", forgetful)


@bug
def a_client_is_told_of_a_deletion_before_it_is_written_down():
    return patch.object(delete_records, "_keep_starts", lambda broker, pending: None)


@bug
def a_copy_takes_the_place_of_its_log_before_it_has_all_of_it():
    copy = ReplicaMoves._copy

    def hasty(self, move, now):
        copy(self, move, now)
        return 0

    return patch.object(ReplicaMoves, "_copy", hasty)


@bug
def a_log_that_was_cut_is_clean_beyond_its_end():
    lower = LogDirectories._lower_checkpoints

    def faithful(self, directory, opened):
        cleaned, name = self._saved[directory.path][CLEANED_UPTO], opened.partition
        upto = cleaned.get(name, 0)
        lower(self, directory, opened)
        if name in cleaned:
            cleaned[name] = upto

    return patch.object(LogDirectories, "_lower_checkpoints", faithful)
