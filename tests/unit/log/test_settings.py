"""A topic's settings: small ones for tests, and those that contradict each other."""

from __future__ import annotations

import pytest

from andiron.log.settings import LogSettings
from andiron.model.settings import MIB, SettingError, parse


def test_segments_may_be_smaller_for_tests_than_for_users():
    assert parse(LogSettings, {"internal.segment.bytes": "100"}).segment_bytes == 100
    assert parse(LogSettings, {"segment.bytes": str(MIB)}).segment_bytes == MIB
    with pytest.raises(SettingError, match=r"segment.bytes: 1048575 is below 1048576"):
        parse(LogSettings, {"segment.bytes": str(MIB - 1)})


@pytest.mark.parametrize(("text", "policy"), [("", ()), ("delete,compact", ("delete", "compact"))])
def test_the_cleanup_policy_is_a_list_that_may_be_empty(text, policy):
    assert parse(LogSettings, {"cleanup.policy": text}).cleanup_policy == policy


@pytest.mark.parametrize("level", ["0", "10", "-2"])
def test_the_gzip_level_is_minus_one_or_from_one_to_nine(level):
    assert parse(LogSettings, {"compression.gzip.level": "-1"}).compression_gzip_level == -1
    assert parse(LogSettings, {"compression.gzip.level": "9"}).compression_gzip_level == 9
    with pytest.raises(SettingError, match="neither -1 nor from 1 to 9"):
        parse(LogSettings, {"compression.gzip.level": level})


def test_a_record_cannot_have_to_wait_longer_than_it_may():
    with pytest.raises(SettingError, match=r"min.compaction.lag.ms: 10 is above max.compaction.lag.ms, 5"):
        parse(LogSettings, {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}).check()
