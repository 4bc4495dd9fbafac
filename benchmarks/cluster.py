"""What do three nodes do here and in Apache Kafka: how fast, at what cost, and how long when one of them is gone?

Both are started on fresh folders, one after the other and never together, in rounds that take turns; the same
clients ask the same of both. Topics have three replicas and min.insync.replicas=2; all settings are the defaults of
either. Every part has a cluster of its own. A row of the table is the median of all rounds.

    python benchmarks/cluster.py                 about an hour, three rounds
    python benchmarks/cluster.py --quick         about 12 minutes, one short round
    … --only andiron                             without the other
    … --rows latency,leaders                     some of the parts below
    … --rounds 5                                 as many rounds

throughput   librdkafka, idempotent, acks=all, linger 5 ms, batches of 64 KB; read back; CPU of all nodes; memory
latency      acks=all at 500 and 2,000 records a second, and beside hundreds of partitions that are idle
leaders      a leader is killed, or stopped in order, with and without being the controller: how long its partition
             cannot be written to, and how long a client does not
controller   the controller is killed: until a topic can be created
rejoin       a broker that was killed or stopped is started again: until it is in all ISRs
reassign     a large replica moves to another broker, and many small ones

Every part begins with a start: until the first write is acknowledged by all in-sync replicas.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from clusters import failover, moving, nodes, traffic
from clusters.part import FULL, QUICK, Part, Scale
from report import Report
from servers import available

PARTS: dict[str, Callable[[Part], None]] = {
    "throughput": traffic.throughput,
    "latency": traffic.latency,
    "leaders": failover.leaders,
    "controller": failover.controller,
    "rejoin": failover.rejoin,
    "reassign": moving.reassign,
}


def main() -> None:
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by a signal"))  # the nodes end with it
    scale = QUICK if arguments.quick else FULL
    if arguments.rounds:
        scale = dataclasses.replace(scale, rounds=arguments.rounds)
    subjects = available(["kafka", "andiron"] if arguments.only is None else [arguments.only])
    report, failures = Report(), 0
    try:
        for number in range(scale.rounds):
            for part in arguments.rows:
                for subject in subjects if number % 2 == 0 else subjects[::-1]:
                    print(f"round {number + 1} of {scale.rounds}: {part}, {subject}", flush=True)
                    failures += not play(subject, part, scale, report, arguments.data)
    finally:
        print(report.table())
        print(f"written to {report.write('cluster')}")
    if failures:
        raise SystemExit(f"{failures} parts could not be played to their end")


def play(subject: str, part: str, scale: Scale, report: Report, data: str) -> bool:
    """One part of one round in a folder that is gone afterwards; whether it came to its end."""
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{subject}-", dir=data))
    cluster = nodes.KINDS[subject](folder / "cluster")
    playing = Part(subject, cluster, scale, report)
    try:
        playing.begin()
        PARTS[part](playing)
    except Exception:
        traceback.print_exc()
        return False
    finally:
        playing.asking.close()
        nodes.kill(cluster)
        shutil.rmtree(folder, ignore_errors=True)
    return True


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", choices=list(nodes.KINDS), help="measure one of the two")
    parser.add_argument("--rows", type=_parts, default=list(PARTS), help="parts, with commas")
    parser.add_argument("--rounds", type=int, help="how many rounds")
    parser.add_argument("--data", default=tempfile.gettempdir(), help="where the nodes keep their data")
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    chosen = text.split(",")
    if unknown := [each for each in chosen if each not in PARTS]:
        raise argparse.ArgumentTypeError(f"no part {unknown[0]}; there are {', '.join(PARTS)}")
    return chosen


if __name__ == "__main__":
    main()
