"""The other end of the pipe: pairs are added and taken away, and the process ends with its parent's end of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from andiron.chaos.proxy import CLIENTS
from andiron.chaos.switchboard import Switchboard


@pytest.fixture
def board() -> Iterator[Switchboard]:
    with Switchboard() as made:
        made.open([(1, 1), (2, 2), (3, 3)])
        yield made


def test_every_place_has_a_port_that_can_be_called() -> None:
    with Switchboard() as board, socket.create_server(("127.0.0.1", 0)) as server:
        (port,) = board.open([(1, server.getsockname()[1])])
        with socket.create_connection(("127.0.0.1", port), 10) as link:
            link.sendall(b"hello")
            taken, _ = server.accept()
            with taken:
                taken.settimeout(10)

                assert taken.recv(5) == b"hello"


def test_a_node_is_cut_off_from_all_others_in_both_directions(board: Switchboard) -> None:
    board.cut_off(2)

    assert board.cut == [(2, 1), (2, 3), (1, 2), (3, 2)]


def test_clients_that_come_through_here_are_cut_if_asked(board: Switchboard) -> None:
    board.cut_off(2, clients=True)

    assert (CLIENTS, 2) in board.cut


def test_one_node_is_healed_and_the_other_stays_cut_off(board: Switchboard) -> None:
    board.cut_off(1)
    board.cut_off(2)
    board.heal(1)

    assert board.cut == [(2, 3), (3, 2)]

    board.heal()
    assert board.cut == []


def test_it_hangs_up_on_a_node() -> None:
    with Switchboard() as board, socket.create_server(("127.0.0.1", 0)) as server:
        (port,) = board.open([(1, server.getsockname()[1])])
        with socket.create_connection(("127.0.0.1", port), 10) as link:
            server.accept()[0].close()
            board.hang_up(1)

            assert link.recv(1) == b""


def test_it_ends_when_it_is_closed() -> None:
    board = Switchboard()
    board.close()

    assert board._process.returncode == 0
