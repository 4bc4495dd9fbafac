"""A leader is killed or stopped, the controller is killed, a broker comes back: how long is what not to be had?

A gap counts between two acknowledgements, to whoever asks (probe.py) and to a client that has to find out whom to
ask (pulse.py). A controller is there again when a topic can be created. A broker is back when it is in the ISR of every
partition that it has a replica of, from its launch on.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import loads
from clusters import nodes
from clusters.part import EXISTS, Part
from clusters.probe import Probe
from clusters.pulse import Pulse
from servers import Closed, Raw, Server, frames

PATIENCE_S = 60.0
BEFORE_S = 1.0  # of writing before something happens
LOAD_RATE, LOAD_PARTITIONS = 2000, 12
SETTLE_S = 2.0

_numbers = itertools.count()


def leaders(part: Part) -> None:
    """The longest gap in the writes to a partition whose leader goes away, cluster's and client's."""
    for _ in range(part.scale.repeats):
        for name, with_controller, how in (
            ("leader killed", False, signal.SIGKILL),
            ("leader and controller killed", True, signal.SIGKILL),
            ("leader stopped in order", False, signal.SIGTERM),
            ("leader and controller stopped in order", True, signal.SIGTERM),
        ):
            gap(part, name, how, with_controller=with_controller)


def gap(part: Part, name: str, how: signal.Signals, *, with_controller: bool) -> None:
    controller = part.asking.controller()
    target = controller if with_controller else next(id for id in part.cluster.nodes if id != controller)
    topic = f"gap-{next(_numbers)}"
    others = [id for id in part.cluster.nodes if id != target]
    part.asking.create(topic, replicas=[target, *others])
    ports = [node.port for node in part.cluster.nodes.values()]
    with Pulse(nodes.bootstrap(part.cluster), topic) as pulse, Probe(ports, topic) as probe:
        assert pulse.wait_until_steady(time.monotonic(), PATIENCE_S), "nothing is written"
        time.sleep(BEFORE_S)
        at = end(part.cluster.nodes[target], how)
        resumed = pulse.wait_until_steady(at, PATIENCE_S)
    assert resumed, f"{name}: nothing was written for {PATIENCE_S:.0f} s"
    part.add(f"{name}: no writes", probe.longest(at) * 1e3, "ms")
    part.add(f"{name}: no writes of librdkafka", pulse.longest(at) * 1e3, "ms")
    if pulse.failed or pulse.lost:
        print(f"    {pulse.failed} records failed, {pulse.lost} acknowledged ones were LOST")
    start_again(part, target)


def end(node: Server, how: signal.Signals) -> float:
    """Kill a node, or ask it to stop and wait for that elsewhere; when that was."""
    at = time.monotonic()
    if how is signal.SIGKILL:
        node.kill()
    else:
        node.send_signal(how)
    return at


def start_again(part: Part, node_id: int) -> float:
    """Launch a node that has ended, or is about to; the seconds until it is back in all ISRs."""
    node = part.cluster.nodes[node_id]
    node.wait()
    began = time.monotonic()
    node.launch()
    node.wait_until_ready()
    part.asking.until_in_sync(node_id)
    elapsed = time.monotonic() - began
    part.asking.close()
    return elapsed


# ── the controller ───────────────────────────────────────────────────────────────────────────


def controller(part: Part) -> None:
    """From the death of the controller until a topic can be created."""
    for _ in range(part.scale.repeats):
        target = part.asking.controller()
        part.asking.close()
        time.sleep(SETTLE_S)
        at = end(part.cluster.nodes[target], signal.SIGKILL)
        elapsed = created_at(part, f"after-{next(_numbers)}") - at
        part.add("controller killed: until a topic is created", elapsed * 1e3, "ms")
        start_again(part, target)


def created_at(part: Part, topic: str) -> float:
    """When a topic was created, by whichever of the nodes that are left does it first."""
    request, found, done = frames.create_topics({topic: 1}, replicas=2), [], threading.Event()

    def insist(port: int) -> None:
        while not done.is_set():
            try:
                with Raw(port, timeout=PATIENCE_S) as link:
                    if frames.read_create_topics(link.ask(request))[topic] in (0, EXISTS):
                        found.append(time.monotonic())
                        done.set()
            except (OSError, Closed):
                pass
            done.wait(0.005)

    threads = [
        threading.Thread(target=insist, args=(node.port,), daemon=True)
        for node in nodes.running(part.cluster)
    ]
    for thread in threads:
        thread.start()
    assert done.wait(PATIENCE_S), "no topic could be created"
    return min(found)


# ── coming back ──────────────────────────────────────────────────────────────────────────────


def rejoin(part: Part) -> None:
    """From the launch of a broker that was away until it is in sync with all."""
    part.asking.create("busy", LOAD_PARTITIONS)
    fill(part)
    for _ in range(part.scale.repeats):
        target = next(id for id in part.cluster.nodes if id != part.asking.controller())
        node = part.cluster.nodes[target]
        with busy(part):
            node.kill()
            part.asking.until_gone(target)
            part.add("back in sync under load, killed and missed", start_again(part, target), "s")
        with busy(part):
            node.kill()
            part.add("back in sync under load, killed, at once", start_again(part, target), "s")
        with busy(part):
            node.send_signal(signal.SIGTERM)
            began = time.monotonic()
            node.wait()
            part.add("stop in order, under load", time.monotonic() - began, "s")
            part.add("back in sync under load, stopped in order", start_again(part, target), "s")
        node.send_signal(signal.SIGTERM)
        part.add("back in sync, stopped in order", start_again(part, target), "s")


def fill(part: Part) -> None:
    place = {"bootstrap": nodes.bootstrap(part.cluster), "topic": "busy", "partitions": LOAD_PARTITIONS}
    total_mb = part.scale.warm_mb
    loads.run("replicated", way="produce", value_bytes=1000, total_mb=total_mb, codec="none", **place)


@contextmanager
def busy(part: Part) -> Iterator[None]:
    """While two megabytes a second are written."""
    place = {"bootstrap": nodes.bootstrap(part.cluster), "topic": "busy", "partitions": LOAD_PARTITIONS}
    load = loads.begin(
        "replicated", way="produce", value_bytes=1000, total_mb=1 << 20, codec="none", rate=LOAD_RATE, **place
    )
    try:
        time.sleep(SETTLE_S)
        yield
        assert load.poll() is None, "the load has failed"
    finally:
        load.kill()
        load.wait()
        part.asking.until_in_sync()
