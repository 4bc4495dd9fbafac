"""Seeds, played: those that failed once are kept for ever, and a fixed range beside them."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from andiron.sim.play import play

KEPT = Path(__file__).parent / "seeds.txt"
# Few, for the histories without a planted bug (test_planted_bugs.py) are of the same kind; `make sim` plays hundreds.
FIRST, COUNT = 10_000, 10
CLUSTERS = 3  # of these, as clusters too: each takes as long as three nodes alone


def kept_seeds():
    """Each once, as seed/nodes, or seed/nodes/mood; without nodes it is of a time when there was one. One that says
    `long` takes some five seconds, and is played with what takes long; what it found has a test of its own too."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    for words in dict.fromkeys(tuple(line.split("#")[0].split()) for line in lines):
        if words:
            seed, nodes, mood = (*words[0].split("/"), None, None)[:3]
            marks = [pytest.mark.long] if "long" in words else []
            yield pytest.param(int(seed), int(nodes or 1), mood, marks=marks)


@pytest.fixture(autouse=True)
def silence():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(("seed", "nodes", "mood"), list(kept_seeds()))
def test_what_was_found_once_stays_mended(seed, nodes, mood):
    assert play(seed, nodes=nodes, mood=mood).violation is None


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_no_law_is_broken(seed):
    assert play(seed, nodes=1).violation is None


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CLUSTERS))
def test_no_law_is_broken_in_a_cluster(seed):
    assert play(seed, nodes=3).violation is None


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_seed_is_a_history_whatever_the_hash_seed(nodes):
    code = (
        "import logging; logging.disable(); from andiron.sim.play import play; "
        f"print(play(18, nodes={nodes}).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "2024")
    }
    assert len(digests) == 1
