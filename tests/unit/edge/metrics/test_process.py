from __future__ import annotations

import time
from unittest.mock import patch

import pytest

from andiron import __version__
from andiron.broker.broker import Broker
from andiron.edge.metrics import process
from andiron.edge.metrics.process import cpu_seconds, resident_bytes
from andiron.model.effects import Woken
from unit.edge.metrics.scraped import host_of, scraped
from worlds.node import SmallNode


def test_the_build_is_told_by_labels():
    seen = scraped(SmallNode())

    (build,) = [key for key in seen if key.startswith("andiron_build_info")]
    assert f'version="{__version__}"' in build and 'node_id="1"' in build
    assert 'roles="broker,controller"' in build


def test_what_the_process_uses():
    assert 0 < cpu_seconds() < 1e6
    assert 1 << 20 < resident_bytes() < 1 << 40


def test_where_there_is_no_proc_the_most_it_ever_had_is_told(monkeypatch):
    monkeypatch.setattr(process, "_STATM", "/no/such/file")
    assert resident_bytes() > 1 << 20


def test_a_start_that_was_not_long_ago():
    assert abs(scraped(SmallNode())["process_start_time_seconds"] - time.time()) < 100_000


def test_bugs_are_counted_wherever_they_showed_themselves():
    world = SmallNode()
    host = host_of(world.node, world.now)
    host.failures = 2
    with patch.object(Broker, "tick", side_effect=RuntimeError("a bug")):
        world.node.step(Woken(), world.now)

    assert scraped(world, host)["andiron_internal_failures_total"] == 3


@pytest.mark.parametrize("there", [True, False])
def test_the_room_on_the_disk(tmp_path, there):
    directory = str(tmp_path) if there else "/no/such/folder"
    world = SmallNode(log_dirs=directory)

    seen = scraped(world)

    assert (f'andiron_log_dir_free_bytes{{directory="{directory}"}}' in seen) == there
