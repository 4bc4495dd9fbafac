"""Play the matrix, round after round, in another order each time, and print what was killed and what came of it.

    PYTHONPATH=tests python -m kills [--rounds 1] [--seed 0] [--job sink] [--only driver] [--on kafka] [--bare]

The control is played in the first round: a naive sink, whose driver is killed after it has written and before Spark has
written that down. It must duplicate, or the arena could not tell.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from andiron.spark.steps import STEPS
from kills.arena import SERVERS, Account, Arena
from kills.cells import ALL, DRIVERS, Kill
from peers import jars

WHO = ("task", "committer", "driver", "broker", "outage")


def main() -> int:
    """Play; the exit code says whether everything was exact."""
    parser = argparse.ArgumentParser(prog="kills")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job", default="sink", choices=("sink", "foreach", "hasty", "patient"))
    parser.add_argument("--on", default="andiron", choices=tuple(SERVERS), help="whose broker it is")
    parser.add_argument("--only", choices=WHO)
    parser.add_argument("--bare", action="store_true", help="drivers alone, without Spark: hasty or patient")
    chosen = parser.parse_args()
    if chosen.bare:
        return _play_bare(chosen)
    cells = [Kill(each.who, each.step, chosen.job) for each in ALL if chosen.only in (None, each.who)]
    done: Counter[Kill] = Counter()
    exact = _control(chosen.on)
    for number in range(chosen.rounds):
        kills = random.Random(chosen.seed + number).sample(cells, len(cells))
        began = time.monotonic()
        account = _play(kills, chosen.job, chosen.on)
        done.update(kills)
        exact &= account.is_exact
        print(f"round {number + 1}: {account} in {time.monotonic() - began:.0f} s", flush=True)
    _print_table(done, chosen.job)
    print("exact: nothing lost, nothing twice" if exact else "NOT EXACT")
    return 0 if exact else 1


def _play_bare(chosen: argparse.Namespace) -> int:
    """All rounds in one arena, one after another: a driver is back in two seconds."""
    cells = [Kill(each.who, each.step, chosen.job) for each in DRIVERS]
    rounds = [
        random.Random(chosen.seed + number).sample(cells, len(cells)) for number in range(chosen.rounds)
    ]
    kills = [kill for each in rounds for kill in each]
    job, began = {chosen.job: "kills.bare"}, time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="kills-") as folder,
        Arena(Path(folder), kills, job, server=chosen.on, program="kills.bare") as arena,
    ):
        arena.run(patience_s=60.0 * (2 + len(kills)))
        account, mended = arena.account(chosen.job), arena.mended()
    print(f"{chosen.rounds} rounds: {account}, {mended} batches mended in {time.monotonic() - began:.0f} s")
    _print_table(Counter(kills), chosen.job)
    print("exact: nothing lost, nothing twice" if account.is_exact else "NOT EXACT")
    return 0 if account.is_exact else 1


def _play(kills: list[Kill], job: str, server: str) -> Account:
    with (
        tempfile.TemporaryDirectory(prefix="kills-") as folder,
        Arena(Path(folder), kills, {job: f"kills.jobs:{job}"}, server=server) as arena,
    ):
        arena.run(patience_s=60.0 * (2 + len(kills)))
        return arena.account(job)


def _control(server: str) -> bool:
    account = _play([Kill("driver", "after_commit", "naive")], "naive", server)
    told = "as it must" if account.duplicated else "WHICH IT SHOULD NOT BE"
    print(f"control, a naive sink: {account}: not exact, {told}", flush=True)
    return account.duplicated > 0 and account.lost == 0


def _print_table(done: Counter[Kill], job: str) -> None:
    print(f"\n{'kills':22}" + "".join(f"{who:>11}" for who in WHO))
    for step in STEPS:
        counts = [done[Kill(who, step, job)] for who in WHO]
        print(f"{step:22}" + "".join(f"{count or '·':>11}" for count in counts))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except jars.Missing as why:
        sys.exit(f"not played: {why}")
