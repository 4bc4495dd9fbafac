"""Thousands of requests with something wrong in them, over a real socket, from fixed seeds.

Each begins as a valid one: any API in any version that is served, made from its declaration, about topics
that are there. Then bytes are turned over, cut out, doubled or put in. The node may answer, wait or hang up.

And beside the socket: cases of the fuzzer (tests/fuzzing), and every one at which a node has failed once.
"""

from __future__ import annotations

import random
import socket
import struct

import pytest

from fuzzing.bounds import STEP_S_MAX
from fuzzing.cases import FLOODS, Case, drawn, kept, round_of, slowest, told
from fuzzing.requests import VERSIONS, mutated, valid
from fuzzing.victim import Victim
from peers import frames
from peers.node import Node
from peers.raw import Raw

TOPICS = ("a", "topic-1")  # names that the samples use
CONNECTIONS, REQUESTS = 150, 8  # of a seed, and of a connection


def framed(request: bytes, chance: random.Random) -> bytes:
    """With its size before it, which is now and then a lie."""
    lie = chance.choice((-1, 1, 1 << 20, -(1 << 31))) if chance.random() < 0.02 else 0
    return struct.pack(">I", (len(request) + lie) & 0xFFFF_FFFF) + request


def play(node: Node, chance: random.Random) -> None:
    """One connection: send everything, then read until the node hangs up."""
    with socket.create_connection(("127.0.0.1", node.port), timeout=10) as link:
        try:
            for _ in range(REQUESTS):
                link.sendall(framed(mutated(valid(chance), chance), chance))
            link.shutdown(socket.SHUT_WR)
            while link.recv(1 << 16):
                pass
        except TimeoutError:
            raise
        except OSError:
            pass  # hung up on while it was still talking


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_sent_the_node_stays_up_and_serves_others(node: Node, seed: int) -> None:
    chance = random.Random(seed)
    with Raw(node.port) as control:
        control.ask(frames.create_topics(dict.fromkeys(TOPICS, 1)))
        for _ in range(CONNECTIONS):
            play(node, chance)
            assert frames.read_api_versions(control.ask(frames.api_versions()))


def test_after_all_this_a_restart_finds_everything(shared_node: Node) -> None:
    with Raw(shared_node.port) as link:
        before = link.fetch("control", 0)

    assert shared_node.stop() == 0
    shared_node.start()

    with Raw(shared_node.port) as link:
        assert link.fetch("control", 0) == before
    assert "Traceback" not in shared_node.printed()


# ── in this process, with every step measured ────────────────────────────────────────


@pytest.mark.parametrize("case", kept(), ids=told)
def test_what_failed_once_fails_no_more(case: Case) -> None:
    assert slowest(Victim(), case) < STEP_S_MAX


def test_no_case_of_these_seeds_takes_long_or_makes_the_node_fail() -> None:
    victim = Victim()
    for seed in range(40):
        case = drawn(seed)
        assert slowest(victim, case) < STEP_S_MAX, told(case)


def test_a_run_of_the_fuzzer_leaves_no_api_version_and_array_out() -> None:
    cases = round_of(1)

    assert {(case["api"], case["version"]) for case in cases if case["kind"] == "play"} == set(VERSIONS)
    for kind in ("flood", "crowd"):
        played = {
            (case["api"], case["version"], tuple(case["path"])) for case in cases if case["kind"] == kind
        }
        assert played == set(FLOODS)
