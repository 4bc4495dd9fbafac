"""The ports that servers of the tests are given."""

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from peers.ports import ESTATE, FIRST, LAST, Estate, free_port

TESTS = Path(__file__).parents[1]
ROW = range(FIRST - 100, FIRST - 90)  # nobody's estate


def test_two_processes_are_given_ports_far_from_each_other():
    own = free_port()
    code = "from peers.ports import free_port; print(free_port())"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, check=True
    )
    other = int(found.stdout)

    assert (own - FIRST) // ESTATE != (other - FIRST) // ESTATE
    assert FIRST <= own < LAST and FIRST <= other < LAST


def test_a_port_is_not_given_again_before_all_others_were():
    estate = Estate(ROW)

    assert [estate.take(3) for _ in range(4)] == [ROW[0], ROW[3], ROW[6], ROW[0]]


def test_ports_that_somebody_listens_on_are_passed_over():
    estate = Estate(ROW)
    with socket.create_server(("127.0.0.1", ROW[1])):
        assert estate.take(2) == ROW[2]
        assert [estate.take(4), estate.take(4)] == [ROW[4], ROW[4]]


def test_where_none_is_free_it_says_so():
    with contextlib.ExitStack() as held:
        for port in ROW:
            held.enter_context(socket.create_server(("127.0.0.1", port)))
        with pytest.raises(OSError, match="no 2 ports in a row are free"):
            Estate(ROW).take(2)
