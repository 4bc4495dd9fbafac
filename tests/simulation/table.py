"""What each planted bug of a cluster is caught by, and after how many seeds: the table of docs/simulation.md.

    cd tests && python -m simulation.table              all of them, from seed 0 on
    cd tests && python -m simulation.table vote epoch   those whose names have one of these words in them

A seed counts if its history breaks a law with the bug in it, and breaks none without.
"""

from __future__ import annotations

import logging
import sys
from functools import cache

from andiron.sim.play import play
from simulation.cluster_bugs import BUGS

SEEDS_MAX = 200
NODES = 3


@cache
def is_sound(seed: int) -> bool:
    """Whether nothing is wrong in this history as it is."""
    return play(seed, nodes=NODES).violation is None


def caught(name: str, seeds: int = SEEDS_MAX) -> tuple[int, str] | None:
    """The first seed that catches a bug, and the law that it breaks."""
    for seed in range(seeds):
        with BUGS[name]():
            violation = play(seed, nodes=NODES).violation
        if violation is not None and is_sound(seed):
            return seed, violation.law
    return None


def main() -> None:
    logging.disable(logging.CRITICAL)
    words = sys.argv[1:]
    print("| planted bug | law that caught it first | first seed from 0 |\n| --- | --- | ---: |")
    for name in [name for name in BUGS if not words or any(word in name for word in words)]:
        found = caught(name)
        seed, law = ("none", "none") if found is None else found
        print(f"| {name.replace('_', ' ')} | {law} | {seed} |", flush=True)


if __name__ == "__main__":
    main()
