"""What is played to a victim, as lines that can be kept: every case that ever failed is played again in each test run.

    {"kind": "flood", "api": 42, "version": 2, "path": ["groups_names"], "size": 4194304}
    {"kind": "crowd", "api": 42, "version": 2, "path": ["groups_names"], "count": 19999}
    {"kind": "play", "seed": 7, "requests": 30}
    {"kind": "play", "seed": 7, "requests": 30, "api": 42, "version": 2}

A play is requests of any API and version, or of one, on three connections, some of them damaged, with time passing
now and then. It follows from its seed and the schemas.

A run begins with a round through everything, so that nothing is left out however short it is: a play of every API in
every version, and of every array a flood and a crowd. Then come cases by chance, as large as may be.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from andiron.model.effects import Disconnected, Received
from andiron.wire.apis import APIS
from fuzzing.bounds import STEP_S_MAX
from fuzzing.requests import VERSIONS, Flood, floods, mutated, valid
from fuzzing.victim import Victim

Case = dict[str, Any]
KEPT = Path(__file__).parent / "kept.jsonl"
BYTES_MAX = 20 << 20
REQUESTS = 30  # of a play
FLOODS = floods()


def kept() -> list[Case]:
    """The cases that failed once."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()]


def keep(case: Case) -> None:
    """One more."""
    with KEPT.open("a") as file:
        file.write(json.dumps(case) + "\n")


def round_of(seed: int) -> list[Case]:
    """Every API, version and array once, none of it large."""
    chance = random.Random(seed)
    cases: list[Case] = [
        {"kind": "play", "seed": seed, "requests": 4, "api": key, "version": version}
        for key, version in VERSIONS
    ]
    for flood in FLOODS:
        case: Case = {"api": flood.key, "version": flood.version, "path": list(flood.path)}
        cases.append({"kind": "flood", **case, "size": 100_000})
        cases.append({"kind": "crowd", **case, "count": min(flood.most, 1_000)})
    chance.shuffle(cases)
    return cases


def drawn(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)
    if chance.random() < 0.4:
        return {"kind": "play", "seed": seed, "requests": REQUESTS}
    flood = chance.choice(FLOODS)
    case: Case = {"api": flood.key, "version": flood.version, "path": list(flood.path)}
    if chance.random() < 0.5:
        return {"kind": "flood", **case, "size": int(10 ** chance.uniform(3, 7.3))}
    return {"kind": "crowd", **case, "count": min(flood.most, int(10 ** chance.uniform(1, 5.2)))}


def told(case: Case) -> str:
    """The case in a few words."""
    if case["kind"] == "play":
        return f"play {case['seed']}" + (f": {apis_of(case)}" if "api" in case else "")
    flood = _flood(case)
    return f"{case['kind']} of {case.get('size') or case['count']}: {flood}"


def apis_of(case: Case) -> str:
    """Which API and version is played, if it is one."""
    return f"{APIS[case['api']].name} v{case['version']}" if "api" in case else ""


def slowest(victim: Victim, case: Case) -> float:
    """Play it; the longest step in seconds. Raises if the node fails."""
    failures = victim.node.failures
    if case["kind"] == "play":
        one = (case["api"], case["version"]) if "api" in case else None
        took = _play(victim, random.Random(case["seed"]), case["requests"], one)
    else:
        took = victim.slowest_for(_frame(case), _flood(case).listener)
    assert victim.node.failures == failures, "the node failed: there is a traceback in the log"
    return took


def is_too_slow(case: Case) -> bool:
    """Whether it is so on a node of its own as well, twice: the machine may have been busy."""
    return all(slowest(Victim(), case) > STEP_S_MAX for _ in range(2))


def most_held(victim: Victim, case: Case) -> int:
    """Play a flood or a crowd; the most bytes that are held at a time."""
    return victim.most_held_for(_frame(case), _flood(case).listener)


def _flood(case: Case) -> Flood:
    return Flood(case["api"], case["version"], tuple(case["path"]))


def _frame(case: Case) -> bytes:
    flood = _flood(case)
    return flood.request(case["size"]) if case["kind"] == "flood" else flood.crowd(case["count"])


def _play(victim: Victim, chance: random.Random, requests: int, one: tuple[int, int] | None) -> float:
    victim.slowest_s = 0.0
    listener = "PLAINTEXT" if one is None else Flood(*one, ()).listener
    conns = [victim.new_connection(listener) for _ in range(3)]
    for _ in range(requests):
        frame = mutated(valid(chance, one), chance) if chance.random() < 0.5 else valid(chance, one)
        victim.step(Received(chance.choice(conns), victim.new_ticket(), memoryview(bytearray(frame))))
        if chance.random() < 0.2:
            victim.advance(chance.choice((1, 100, 10_000)))
    for conn in conns:
        victim.step(Disconnected(conn))
    victim.come_to_rest()
    return victim.measured_s()
