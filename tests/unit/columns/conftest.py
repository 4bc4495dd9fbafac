"""Both of each pair, the numpy one and the native one, under the same tests."""

from __future__ import annotations

import pytest

from andiron.columns import decode, encode, native, pack, partition, walk

PAIRS = [
    (decode, "_walk", walk.walk, native.walk),
    (encode, "_pack", pack.pack, native.pack),
    (partition, "_partitions", partition.numpy_partitions, native.partitions),
]


@pytest.fixture(params=["numpy", "native"])
def either(request, monkeypatch):
    """The test runs twice, once with each."""
    if request.param == "native" and native.walk is None:
        pytest.skip("the extension was not built here")
    for module, name, in_numpy, in_c in PAIRS:
        monkeypatch.setattr(module, name, in_numpy if request.param == "numpy" else in_c)
