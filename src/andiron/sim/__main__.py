"""The simulator from the command line.

    python -m andiron.sim --seed 123             play one seed, and say how it went
    python -m andiron.sim --seed 123 --trace     and print its history
    python -m andiron.sim --seeds 2000           play fresh seeds, two at a time, of nodes alone and of clusters
    python -m andiron.sim --seed 123 --nodes 3   in a cluster of three, whatever the seed says
    … --mood full-disks                          with one kind of fault all the time (moods.py)

A seed that fails is printed with the command that plays it again, and appended to tests/simulation/seeds.txt (or the
file given) as seed/nodes (and /mood, if one was asked for), where it stays: the tests play those for ever.
Ctrl-C stops, and says what was played; so does every two hundredth seed.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

from andiron.sim.moods import SINGLE_MINDED
from andiron.sim.play import Outcome, play

FAILED_SEEDS = Path("tests/simulation/seeds.txt")
PROCESSES = 2
TELLS_EVERY = 200  # seeds


def main() -> int:
    """Play what was asked for; the exit status says whether a law was broken."""
    parser = argparse.ArgumentParser(prog="python -m andiron.sim", description="Play a node from a seed.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seed", type=int, help="play this one")
    what.add_argument("--seeds", type=int, metavar="COUNT", help="play so many fresh ones")
    parser.add_argument("--first", type=int, help="with --seeds: count up from here, not from anywhere")
    parser.add_argument("--nodes", type=int, help="so many brokers, not as many as each seed says")
    parser.add_argument("--mood", choices=SINGLE_MINDED, help="let one kind of fault come all the time")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="with --seeds: so many at a time")
    parser.add_argument("--trace", action="store_true", help="with --seed: print the history")
    parser.add_argument("--keep", type=Path, default=FAILED_SEEDS, help="where seeds that fail are kept")
    options = parser.parse_args()
    if not options.trace:
        logging.disable(logging.CRITICAL)
    if options.seed is not None:
        return _play_one(options.seed, options.nodes, options.mood, trace=options.trace)
    first = random.SystemRandom().randrange(1 << 40) if options.first is None else options.first
    return _play_many(first, options.seeds, options.nodes, options.mood, options.keep, options.processes)


def _play_one(seed: int, nodes: int | None, mood: str | None, *, trace: bool) -> int:
    began = time.perf_counter()
    outcome = play(seed, print if trace else None, nodes=nodes, mood=mood)
    if outcome.violation is not None and trace:
        traceback.print_exception(outcome.violation)
    print(_told(outcome))
    print(f"{outcome.simulated_ms / 1000:.0f} s simulated in {time.perf_counter() - began:.2f} s")
    return 0 if outcome.violation is None else 1


def _play_many(
    first: int, count: int, nodes: int | None, mood: str | None, keep: Path, processes: int
) -> int:
    tally = _Tally(first)
    seeds = range(first, first + count)
    with multiprocessing.Pool(processes, initializer=_ignore_interrupts) as pool:
        try:
            for outcome in pool.imap_unordered(partial(play, nodes=nodes, mood=mood), seeds):
                tally.add(outcome)
                if outcome.violation is not None:
                    print(_told(outcome), flush=True)
                    _keep(outcome, keep)
                if tally.played % TELLS_EVERY == 0:
                    print(f"{tally}\n", flush=True)
        except KeyboardInterrupt:
            print("stopped; so far:")
    print(tally)
    return 1 if tally.failed else 0


def _ignore_interrupts() -> None:
    logging.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Tally:
    """What was played, in figures."""

    def __init__(self, first: int) -> None:
        self._first, self._began = first, time.perf_counter()
        self.failed = self._simulated_ms = 0
        self._moods, self._sizes = Counter[str](), Counter[int]()

    def add(self, outcome: Outcome) -> None:
        self._simulated_ms += outcome.simulated_ms
        self._moods[outcome.mood] += 1
        self._sizes[outcome.nodes] += 1
        self.failed += outcome.violation is not None

    @property
    def played(self) -> int:
        return self._sizes.total()

    def __str__(self) -> str:
        seconds, played = time.perf_counter() - self._began, self.played
        moods = ", ".join(f"{count} {mood}" for mood, count in self._moods.items())
        sizes = ", ".join(f"{self._sizes[nodes]} of {_counted(nodes)}" for nodes in sorted(self._sizes))
        faster = self._simulated_ms / 1000 / seconds
        speed = f"{played / seconds:.1f} seeds/s, {faster:.0f} simulated seconds per second"
        return f"{played} seeds from {self._first}: {self.failed} failed; {moods}\n{sizes}\n{speed}"


def _told(outcome: Outcome) -> str:
    """One seed in one line, or two if it failed."""
    about = (
        f"seed {outcome.seed}: {_counted(outcome.nodes)}, {outcome.mood}, {outcome.boots} starts, "
        f"{outcome.acknowledged} batches acknowledged, {outcome.lines} lines, {outcome.digest}"
    )
    if outcome.violation is None:
        return about
    mood = f" --mood {outcome.mood}" if outcome.mood in SINGLE_MINDED else ""
    again = f"python -m andiron.sim --seed {outcome.seed} --nodes {outcome.nodes}{mood} --trace"
    return f"{about}\n    {outcome.violation}\n    {again}"


def _counted(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def _keep(outcome: Outcome, path: Path) -> None:
    if path.parent.is_dir():
        with path.open("a") as kept:
            mood = f"/{outcome.mood}" if outcome.mood in SINGLE_MINDED else ""
            kept.write(f"{outcome.seed}/{outcome.nodes}{mood}  # {outcome.violation}\n")


def _until_nobody_reads() -> int:
    """Whoever read our output may have had enough (`… --trace | head`): then nothing failed."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


if __name__ == "__main__":
    sys.exit(_until_nobody_reads())
