"""How a copy begins, and begins again, on two nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from andiron.client.blocking.producer import Producer
from andiron.client.core.descriptions import Resource, ResourceType
from andiron.copying.copy_start import LOOK_S
from andiron.copying.errors import CopyError

if TYPE_CHECKING:
    from unit.copying.conftest import Both


def test_a_plan_changes_nothing_and_preparing_makes_the_topic_with_its_settings(both: Both) -> None:
    resource = Resource(ResourceType.TOPIC, both.topic)
    both.source.admin.alter_configs(resource, {"retention.ms": "123456789"})

    opening = both.opening()
    assert both.topic not in [each.name for each in both.target.client.topics()]
    opening.prepare()
    opening.close()

    configs = {each.name: each.value for each in both.target.admin.configs(resource)}
    assert configs["retention.ms"] == "123456789"


def test_what_the_source_has_lost_is_led_up_to_and_offsets_are_kept(both: Both) -> None:
    both.write("a", "b", "c", "d")
    both.source.admin.delete_records({both.partition: 3})

    both.copy()

    assert both.target.ends([both.partition])[both.partition] == (3, 4)
    assert both.there(both.target) == both.there(both.source)


def test_offsets_begin_at_0_where_one_wants_that(both: Both) -> None:
    both.write("a", "b", "c")
    both.source.admin.delete_records({both.partition: 2})

    both.copy(keep_offsets=False)

    assert both.target.ends([both.partition])[both.partition] == (0, 1)


def test_what_another_wrote_behind_the_copy_is_not_taken_for_its_own(both: Both) -> None:
    both.write("a", "b")
    both.copy()
    with Producer(both.target.client) as another:
        another.send(both.topic, b"mine", key=b"k")
    both.write("c", "d")

    with pytest.raises(CopyError, match="somebody else has written to it"):
        both.copy()


def test_a_refusal_comes_before_anything_is_changed(both: Both) -> None:
    with Producer(both.target.client) as another:
        another.send(both.topic, b"mine")
    opening = both.opening()

    with pytest.raises(CopyError, match="no copy from this source has written"):
        opening.prepare()


def test_a_topic_deleted_on_the_target_is_copied_anew(both: Both) -> None:
    both.write("a")
    both.copy()
    both.target.admin.delete_topic(both.topic)

    both.copy()

    assert both.there(both.target) == both.there(both.source)


def test_partitions_that_are_new_on_the_source_are_found_now_and_then(both: Both) -> None:
    now = [0.0]
    opening = both.opening(follow=True, clock=lambda: now[0])
    opening.prepare()
    both.source.admin.create_partitions(both.topic, 3)

    assert not opening.grown()
    now[0] += LOOK_S
    assert opening.grown()
    opening.close()
    assert len(both.target.admin.topic(both.topic).partitions) == 3
