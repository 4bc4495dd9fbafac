from __future__ import annotations

import pytest

from andiron.edge.metrics.meter import FETCH, FOLLOWER_FETCH
from andiron.edge.metrics.traffic import api_name
from andiron.wire.messages.heartbeat import HeartbeatRequest
from edge.playground import Playground
from unit.edge.metrics.scraped import host_of, scraped
from worlds.coordinating import GROUP, coordinating
from worlds.node import Closed, SmallNode


def test_bytes_and_messages_of_a_topic():
    world = SmallNode()
    world.create("t")
    world.produce("t", b"a", b"b")
    world.fetch("t")

    seen, size = scraped(world), world.log("t").size

    assert seen['andiron_topic_messages_in_total{topic="t"}'] == 2
    assert seen['andiron_topic_bytes_in_total{topic="t"}'] == size
    assert seen['andiron_topic_bytes_out_total{topic="t"}'] == size
    assert seen['andiron_topic_replication_bytes_out_total{topic="t"}'] == 0


def test_failures_by_topic_and_error():
    world = SmallNode()
    world.create("t")
    world.fetch("t", offset=9)
    world.produce("missing", b"a")

    seen = scraped(world)

    assert seen['andiron_failed_fetch_requests_total{topic="t",error="OFFSET_OUT_OF_RANGE"}'] == 1
    assert seen['andiron_failed_produce_requests_total{topic="",error="UNKNOWN_TOPIC_OR_PARTITION"}'] == 1


def test_errors_by_api():
    world = coordinating()
    for _ in range(2):
        world.ask(HeartbeatRequest(GROUP, 1, "nobody"))

    assert scraped(world)['andiron_request_errors_total{api="Heartbeat",error="UNKNOWN_MEMBER_ID"}'] == 2


def test_frames_that_are_no_request():
    world = SmallNode()
    with pytest.raises(Closed):
        world.ask_raw(3, 9, b"\xff" * 3)

    assert scraped(world)["andiron_malformed_requests_total"] == 1


def test_how_long_requests_took():
    world = SmallNode()
    host = host_of(world.node, world.now)
    host.meter.kinds, host.meter.of_turn[0] = [0], 5
    host.meter.turn_ends()

    seen = scraped(world, host)

    assert seen['andiron_request_duration_seconds_count{api="Produce"}'] == 5
    assert seen['andiron_request_duration_seconds_bucket{api="Produce",le="30.0"}'] == 5
    assert 0 <= seen["andiron_loop_idle_ratio"] <= 1


def test_requests_that_wait_and_connections():
    world = SmallNode()
    world.create("t")
    world.send(world.fetch_request("t", wait_ms=1_000), 12)
    with Playground() as play:
        play.connect()
        play.connect()

        seen = scraped(world, play.host)

    assert seen["andiron_waiting_requests"] == 1
    assert seen['andiron_connections{listener="PLAINTEXT"}'] == 2
    assert seen['andiron_connections{listener="CONTROLLER"}'] == 0
    assert seen["andiron_connections_accepted_total"] == 2
    assert seen["andiron_stalled_connections"] == seen["andiron_unsent_bytes"] == 0
    assert seen["andiron_sendfile_bytes_total"] == 0


def test_an_api_that_nobody_knows_has_a_name_too():
    assert (api_name(0), api_name(255), api_name(256)) == ("Produce", "unknown", "unknown")


def test_fetches_are_told_by_who_fetches():
    assert (api_name(FETCH), api_name(FOLLOWER_FETCH)) == ("FetchConsumer", "FetchFollower")


def test_the_disk_is_told_by_what_it_does():
    world = SmallNode()
    host = host_of(world.node, world.now)
    times = host.meter.disk.writes
    times.ends(times.begins())
    host.meter.disk.syncs.add(0.2)

    seen = scraped(world, host)

    assert seen['andiron_disk_duration_seconds_count{operation="write"}'] == 1
    assert seen['andiron_disk_duration_seconds_count{operation="read"}'] == 0
    assert seen['andiron_disk_duration_seconds_sum{operation="sync"}'] == 0.2
