"""What the machine can do at all, as far as it can be told without measuring."""

from __future__ import annotations

import sys

import pytest

import limits


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked")
def test_what_may_be_written_is_less_than_the_kernel_begins_to_write_back() -> None:
    with open("/proc/meminfo") as file:
        total_kb = int(file.readline().split()[1])

    assert 0 < limits.unthrottled_mb() < total_kb / 1024
