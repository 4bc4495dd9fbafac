"""Play rounds, print each and an account of all.

PYTHONPATH=src:tests python -m chaos [--rounds 5] [--seed 0] [--clients confluent,java] [--only kill] [--keep]
"""

from __future__ import annotations

import argparse
import faulthandler
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from chaos.arena import PARTITIONS, Arena, Stuck
from chaos.audit import Verdict
from chaos.plan import Round, rounds
from chaos.writers import LIBRARIES
from peers import jars, jvm


def main() -> int:
    """Play; the exit code says whether all was well."""
    parser = argparse.ArgumentParser(prog="chaos")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clients", help="libraries, with commas between; all that are there by default")
    parser.add_argument("--only", help="a fault by its name, or such as 'kill leader'")
    parser.add_argument("--rate", type=float, default=200.0, help="records a second, of each writer")
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--no-transactions", action="store_true")
    parser.add_argument("--debug", action="store_true", help="have librdkafka write down what it does")
    parser.add_argument("--keep", action="store_true", help="keep data and logs")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    libraries = chosen.clients.split(",") if chosen.clients else available()
    arena = Arena(
        folder,
        libraries,
        rate=chosen.rate,
        transactions=not chosen.no_transactions,
        seed=chosen.seed,
        debug=chosen.debug,
    )
    began, done, verdict = time.monotonic(), Counter[str](), Verdict()
    print(f"seed {chosen.seed}, data and logs in {folder}", flush=True)
    with arena:
        for each in rounds(chosen.seed, chosen.rounds, PARTITIONS, chosen.only):
            try:
                print(_played(arena, each), flush=True)
            except Stuck as who:
                verdict.note("stuck", f"{each}: {who}")
                faulthandler.dump_traceback(all_threads=True)  # where are they?
                break
            done[f"{each.how} {each.whom}"] += 1
            if each.number % chosen.check_every == 0 and each.number < chosen.rounds:
                verdict = arena.check()
                print(f"  {verdict}", flush=True)
                if not verdict.is_good:
                    break
        if verdict.is_good:
            verdict = arena.finish()
        _summarise(arena, done, verdict, time.monotonic() - began)
    if verdict.is_good and not chosen.keep:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"data and logs are kept in {folder}")
    return 0 if verdict.is_good else 1


def available() -> list[str]:
    """The libraries that can be had; Java and its jars may be missing."""
    libraries = list(LIBRARIES)
    try:
        jvm.command()
    except jars.Missing as why:
        print(f"without the Java client: {why}")
        libraries.remove("java")
    return libraries


def _played(arena: Arena, given: Round) -> str:
    """Play a round; how it went."""
    start, stood_s = time.monotonic(), arena.canary.stood_s
    who = arena.play(given)
    whole_s = time.monotonic() - start
    last = arena.wait_for_progress()
    told = f"{given}, {who}: whole after {whole_s:.1f} s, all at work after {time.monotonic() - start:.1f} s"
    stood_s = arena.canary.stood_s - stood_s
    slow = f"; the machine's disk stood still for {stood_s:.1f} s" if stood_s else ""
    return told + (f", {last} last" if last else "") + slow


def _summarise(arena: Arena, done: Counter[str], verdict: Verdict, seconds: float) -> None:
    print(
        f"\n{sum(done.values())} rounds in {seconds:.0f} s: "
        + ", ".join(f"{n} × {w}" for w, n in done.items())
    )
    for writer in arena.writers:
        ledger = writer.ledger
        print(
            f"{ledger.writer}: {ledger.total:,} sent, {ledger.total_acked:,} acknowledged, {len(ledger.failed)} failed"
        )
    for banker in arena.bankers:
        print(
            f"{banker.name}: {len(banker.committed):,} committed, {len(banker.aborted):,} aborted, "
            f"{len(banker.unknown)} unknown, {banker.replaced} producers replaced"
        )
        for complaint, count in Counter(each.partition(": ")[2] for each in banker.complaints).items():
            print(f"    {count} × {complaint}")
    for bridge in arena.bridges:
        told = ", ".join(f"{count} × {what}" for what, count in Counter(bridge.complaints).items())
        print(f"{bridge.name}: {bridge.committed:,} transactions, {bridge.replaced} workers replaced")
        print(f"    {told}" if told else "", end="\n" if told else "")
    for reader in arena.readers:
        print(f"group {reader.name}: {len(reader.seen):,} read, {reader.twice:,} of them again")
    print(verdict)


if __name__ == "__main__":
    sys.exit(main())
