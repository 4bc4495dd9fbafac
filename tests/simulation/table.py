"""By which seed each planted bug is caught, and which law it breaks there: the tables of docs/simulation.md.

    cd tests && python -m simulation.table              all of them; takes hours
    cd tests && python -m simulation.table vote epoch   those whose names have one of these words in them

Short histories are tried first: a seed that is found so costs the tests least.
"""

from __future__ import annotations

import logging
import sys

from simulation.catching import MOODS, PLANTED, law_broken, length

SEEDS = 100


def caught(name: str, nodes: int) -> tuple[int, str] | None:
    """The seed with the shortest history that catches a bug, and the law that is broken there."""
    mood = MOODS.get(name)
    lengths = {seed: lines for seed in range(SEEDS) if (lines := length(nodes, seed, mood)) is not None}
    for seed in sorted(lengths, key=lambda each: lengths[each]):
        if (law := law_broken(name, nodes, seed)) is not None:
            return seed, law
    return None


def main() -> None:
    logging.disable(logging.CRITICAL)
    words = sys.argv[1:]
    for nodes, bugs in PLANTED.items():
        print(f"\n| planted bug, nodes: {nodes} | law that it breaks | in seed |\n| --- | --- | ---: |")
        for name in [name for name in bugs if not words or any(word in name for word in words)]:
            seed, law = caught(name, nodes) or ("none", "none")
            print(f"| {name.replace('_', ' ')} | {law} | {seed} |", flush=True)


if __name__ == "__main__":
    main()
