"""Slices that leave by sendfile are as safe as those that are copied: whatever becomes of the file or of the client.

Every test runs both ways, through real sockets, and expects the same of them.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from andiron.edge.carrier import PIECE
from andiron.edge.disk import PosixDisk, PosixFile
from andiron.log.disk import FileSlice
from andiron.model.effects import Disconnected, Reply
from edge.playground import Client, Playground
from edge.scripted import ScriptedNode
from edge.sending import WAYS, carrier

SIZE = 12 * PIECE
OLD = b"".join(struct.pack(">II", 0x01010101, n) for n in range(SIZE // 8))
NEW = b"".join(struct.pack(">II", 0x02020202, n) for n in range(SIZE // 8))
SLOW = 4096  # bytes that a slow reader's socket takes


class ManySlicesNode(ScriptedNode):
    """Answers `many:` with slices of all sizes, and bytes around each."""

    LENGTHS = (PIECE + 1, 1, 70_000, 2 * PIECE, PIECE // 2, 2 * PIECE + 5, 0, 3 * PIECE + 300, 300, PIECE - 1)

    def _received(self, event):
        if bytes(event.frame) != b"many:":
            return super()._received(event)
        parts = [b"head"]
        for n, length in enumerate(self.LENGTHS):
            parts += [b"<%d>" % n, FileSlice(self.file, n * 1000, length)]
        return [Reply(event.conn, event.ticket, [*parts, b"tail"])]

    def expected(self) -> bytes:
        slices = (b"<%d>" % n + OLD[n * 1000 : n * 1000 + length] for n, length in enumerate(self.LENGTHS))
        return b"head" + b"".join(slices) + b"tail"


@pytest.fixture
def disk() -> PosixDisk:
    return PosixDisk(descriptors=1)


@pytest.fixture
def file(tmp_path, disk) -> PosixFile:
    made = disk.open(f"{tmp_path}/00000000000000000000.log")
    made.append(OLD)
    return made


@pytest.fixture(params=WAYS)
def play(request, file) -> Iterator[Playground]:
    with Playground(node=ManySlicesNode(file), carrier=carrier(request.param)) as made:
        yield made


def begun(play: Playground) -> Client:
    """A slow reader that was sent the beginning of a large answer."""
    client = play.connect(receive_buffer=SLOW)
    client.send(b"slice:0:%d" % SIZE)
    play.turn_until(lambda: 0 < backlog(play) < SIZE)
    play.turn(2)
    assert backlog(play) > SIZE // 2
    return client


def backlog(play: Playground) -> int:
    return play.host.connections.backlog


def rest(play: Playground, client: Client) -> bytes:
    """All that comes until the host hangs up."""
    parts = []
    while (part := client.take()) != b"":
        if part is None:
            play.turn()
        else:
            parts.append(part)
    return b"".join(parts)


def is_cut_short(answer: bytes) -> bool:
    """Whether a frame came that is shorter than it says, with nothing in it but what was promised."""
    promised = struct.unpack(">i", answer[:4])[0]
    return promised == SIZE + 2 and len(answer) < 4 + promised and OLD.startswith(answer[5:])


# ── the file ─────────────────────────────────────────────────────────────────────────


def test_a_segment_that_retention_renames_is_sent_to_its_end(play, disk, file):
    client = begun(play)
    disk.rename(file.path, file.path + ".deleted")
    assert client.receive() == b"<" + OLD + b">"


def test_a_segment_in_whose_place_compaction_puts_another_is_sent_to_its_end(play, disk, file):
    client, path = begun(play), file.path
    cleaned = disk.open(path + ".cleaned")
    cleaned.append(NEW)
    disk.rename(path, path + ".deleted")
    disk.rename(path + ".cleaned", path)
    assert client.receive() == b"<" + OLD + b">"
    assert disk.open(path).read(0, SIZE) == NEW


def test_a_partition_folder_that_is_renamed_is_read_from_where_it_is(play, disk, file, tmp_path):
    client = begun(play)
    disk.rename(str(tmp_path), f"{tmp_path}.moved")
    assert client.receive() == b"<" + OLD + b">"


def test_a_descriptor_that_is_given_to_another_file_is_not_read(play, disk, file, tmp_path):
    client, number = begun(play), file.fd()
    other = disk.open(f"{tmp_path}/other")
    other.append(NEW)
    assert other.fd() == number, "the disk has one descriptor for both"
    assert client.receive() == b"<" + OLD + b">"


def test_a_removed_segment_closes_the_connection_with_a_reason(play, disk, file, caplog):
    caplog.set_level("INFO")
    client = begun(play)
    disk.remove(file.path)
    assert is_cut_short(rest(play, client))
    assert "while sending" in caplog.text and "removed" in caplog.text
    assert play.node.events[-1] == Disconnected(1)


@pytest.mark.parametrize("left", [0, PIECE, SIZE // 2 + 1, SIZE - 1])
def test_a_truncated_segment_closes_the_connection_with_a_reason(play, file, caplog, left):
    caplog.set_level("INFO")
    client = begun(play)
    file.truncate(left)
    answer = rest(play, client)
    assert len(answer) < 4 + SIZE + 2
    assert "while sending" in caplog.text and "bytes at" in caplog.text
    assert play.host.failures == 0


def test_what_is_written_after_a_truncation_takes_the_place_of_what_was_there(play, file):
    """Both ways read when they send. By sendfile this is true until the client has it: what is still in the socket is
    the page itself."""
    client = begun(play)
    file.truncate(SIZE // 4)
    file.append(NEW[SIZE // 4 :])
    answer = client.receive()
    assert len(answer) == SIZE + 2, "the frame is as long as it says"
    body = answer[1:-1]
    assert body[: SIZE // 4] == OLD[: SIZE // 4]
    assert body[SIZE // 2 :] == NEW[SIZE // 2 :]


# ── the client ───────────────────────────────────────────────────────────────────────


def test_many_slices_arrive_in_one_answer(play):
    client = play.connect()
    client.send(b"many:", b"echo:after", b"many:")
    assert client.receive() == play.node.expected()
    assert client.receive() == b"after"
    assert client.receive() == play.node.expected()


def test_a_socket_that_takes_a_little_at_a_time_gets_all(play):
    client = play.connect(receive_buffer=SLOW)
    client.send(b"many:", b"many:")
    assert client.receive() == play.node.expected()
    assert client.receive() == play.node.expected()


def test_a_client_that_resets_in_the_middle_costs_nobody_else(play):
    other, client = play.connect(), begun(play)
    client.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    play.turn_until(lambda: len(play.host.connections) == 1)
    assert play.node.events[-1] == Disconnected(2)
    other.send(b"slice:8:%d" % (2 * PIECE))
    assert other.receive() == b"<" + OLD[8 : 8 + 2 * PIECE] + b">"
    assert play.host.failures == 0


def test_a_reader_who_never_reads_holds_up_nobody(play):
    begun(play)
    others = [play.connect() for _ in range(4)]
    for other in others:
        other.send(b"slice:0:%d" % (4 * PIECE), b"echo:done")
    for other in others:
        assert other.receive() == b"<" + OLD[: 4 * PIECE] + b">"
        assert other.receive() == b"done"
    assert backlog(play) > SIZE // 2


def test_a_turn_sends_a_piece_to_each_and_no_more(play):
    readers = [play.connect() for _ in range(3)]
    for reader in readers:
        reader.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * SIZE)
        reader.send(b"slice:0:%d" % (8 * PIECE))
    play.turn_until(lambda: len(play.node.texts) == 3)
    before = {each.id: each.backlog for each in play.host.connections.by_number.values()}
    play.turn()
    for each in play.host.connections.by_number.values():
        assert before[each.id] - PIECE - 5 <= each.backlog <= before[each.id]
    for reader in readers:
        assert reader.receive() == b"<" + OLD[: 8 * PIECE] + b">"
