"""The hash is a contract with every other client."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import murmur2 as aiokafkas
from hypothesis import given
from hypothesis import strategies as st

from andiron.records.murmur2 import murmur2

JAVA = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.mark.parametrize("key", JAVA)
def test_the_hash_is_the_java_clients(key: str) -> None:
    assert murmur2(key.encode()) == JAVA[key]


@given(st.binary(max_size=40))
def test_the_hash_is_that_of_other_clients_for_any_key(key: bytes) -> None:
    assert murmur2(key) & 0xFFFFFFFF == aiokafkas(key) & 0xFFFFFFFF
