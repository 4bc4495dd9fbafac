"""Seeds, played: those that failed once are kept for ever, and a fixed range beside them."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from andiron.sim.play import play

KEPT = Path(__file__).parent / "seeds.txt"
FIRST, COUNT = 10_000, 40


def kept_seeds():
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return [int(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]


@pytest.fixture(autouse=True)
def silence():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", [*kept_seeds(), *range(FIRST, FIRST + COUNT)])
def test_no_law_is_broken(seed):
    assert play(seed).violation is None


def test_a_seed_is_a_history_whatever_the_hash_seed():
    code = "import logging; logging.disable(); from andiron.sim.play import play; print(play(7).digest)"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1", "2024")
    }
    assert len(digests) == 1
