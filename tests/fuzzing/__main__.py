"""Play cases to a node: first a round through every API, version and array, then others for as long as one likes. Print
how far it got, and the longest step.

    cd tests && python -m fuzzing [--seconds 60] [--seed N]

A case that fails is printed, kept in fuzzing/kept.jsonl and played by every test run from then on.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback

from fuzzing.bounds import HELD_MAX, STEP_S_MAX
from fuzzing.cases import Case, apis_of, drawn, is_too_slow, keep, kept, most_held, round_of, slowest, told
from fuzzing.requests import VERSIONS
from fuzzing.victim import Victim

FRESH_AFTER = 100  # cases of one node
MEMORY_EVERY = 20  # cases; it takes several times as long
TOLD_S = 30.0


class Run:
    """One run of the fuzzer, and what it has seen."""

    def __init__(self) -> None:
        self.cases = self.failed = 0
        self.longest: tuple[float, str] = (0.0, "")
        self.largest: tuple[int, str] = (0, "")
        self.seen: set[str] = set()  # APIs, each with a version
        self._victim = Victim()

    def play(self, case: Case) -> None:
        self.cases += 1
        if not self.cases % FRESH_AFTER:
            self._victim = Victim()
        try:
            self._measure(case)
        except Exception:
            traceback.print_exc()
            self._fail(case, "the node fails at it")

    def _measure(self, case: Case) -> None:
        took = slowest(self._victim, case)
        self.longest = max(self.longest, (took, told(case)))
        self.seen.add(apis_of(case))
        if took > STEP_S_MAX and is_too_slow(case):
            self._fail(case, f"a step takes {took:.2f} s")
        if case["kind"] != "play" and not self.cases % MEMORY_EVERY:
            held = most_held(self._victim, case)
            self.largest = max(self.largest, (held, told(case)))
            if held > HELD_MAX:
                self._fail(case, f"{held >> 20} MB are held for it")

    def _fail(self, case: Case, why: str) -> None:
        self.failed += 1
        print(f"FAILED {told(case)}: {why}", flush=True)
        if case not in kept():
            keep(case)
        self._victim = Victim()

    def report(self) -> str:
        return (
            f"{self.cases} cases, {self.failed} failed; {len(self.seen - {''})} of {len(VERSIONS)} versions; "
            f"longest step {self.longest[0] * 1000:.0f} ms ({self.longest[1]}); "
            f"most held {self.largest[0] / 2**20:.0f} MB ({self.largest[1]})"
        )


def main() -> int:
    """Play; the exit code says whether all held."""
    parser = argparse.ArgumentParser(prog="fuzzing")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**12)
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    print(f"seeds from {chosen.seed}", flush=True)
    run, until, told_at = Run(), time.monotonic() + chosen.seconds, time.monotonic()
    everything = iter(round_of(chosen.seed))
    while (case := next(everything, None)) is not None or time.monotonic() < until:
        run.play(case or drawn(chosen.seed + run.cases))
        if time.monotonic() - told_at > TOLD_S:
            told_at = time.monotonic()
            print(f"{run.cases} cases, {run.failed} failed", flush=True)
    print(run.report())
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
