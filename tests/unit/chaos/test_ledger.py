"""The ledger is JSON, and has every record in it."""

from __future__ import annotations

import json

from andiron.chaos.ledger import ledger
from unit.chaos.samples import SCALING, outcome


def test_every_cell_is_told_with_every_record() -> None:
    told = json.loads(json.dumps(ledger([outcome()], [SCALING], ["a note"])))

    (cell,) = told["cells"]
    assert (cell["acks"], cell["min.insync.replicas"], cell["good"]) == ("1", 2, True)
    assert len(cell["records"]) == cell["sent"] == 10
    assert [each[1] for each in cell["lost"]] == [8, 9]
    assert cell["isr"][1] == {"at": 4.5, "leader": 1, "isr": [1, 3]}
    assert cell["unavailable"] == {"begin": 6.9, "end": 8.4}
    assert cell["latency_ms"]["after"] is None
    assert told["notes"] == ["a note"]


def test_scaling_is_told_by_partition_and_member() -> None:
    (scaling,) = ledger([], [SCALING], [])["scaling"]

    assert scaling["pause_ms_by_partition"] == {0: 20.0, 1: 480.0}
    assert scaling["moved_partitions"] == [1]
