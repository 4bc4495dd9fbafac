"""What is shown of a copy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from andiron.cli.copy_report import as_document, print_end, print_plan
from andiron.copying.groups import GroupReport
from andiron.copying.offset_map import OffsetMap, Stretch
from andiron.copying.partition_copy import PartitionCopy
from andiron.copying.plan import TopicPlan
from andiron.copying.proof import Proof
from andiron.copying.state import Target
from andiron.model.ids import TopicPartition

P = TopicPartition("t", 0)


def copier(**more: Any) -> Any:
    copy = PartitionCopy(P, Target("t", "id"), OffsetMap([Stretch(5, 0)]), 9, 4, records=4, bytes=2048)
    return cast(Any, SimpleNamespace(copies={P: copy}, records=4, bytes=2048, set_aside={}, **more))


def proof(*, holds: bool = True) -> Proof:
    return Proof(P, (5, 9), (0, 4), (4, 4 if holds else 3), ("ab" * 16, "ab" * 16))


def test_the_end_tells_what_shifted_and_that_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    group = GroupReport("g", {P: (7, 2)})

    print_end(
        copier(), [group, GroupReport("h", {}, "it has members")], [proof()], 2.0, as_json=False, proven=True
    )

    out = capsys.readouterr().out
    assert "t-0                 4  shifted  5..9    0..4          4  abababababababab" in out
    assert "group g: 1 partition translated" in out and "group h" not in out
    assert "4 records (2.0 KiB) in 2.0 s, 1.0 KiB/s" in out
    assert "proven: 4 records on both sides" in out


def test_what_differs_is_said_loudly(capsys: pytest.CaptureFixture[str]) -> None:
    print_end(copier(), [], [proof(holds=False)], 1.0, as_json=False, proven=True)

    told = capsys.readouterr()
    assert "t-0 DIFFERS: the source has 4 records" in told.err
    assert "proven" not in told.out


def test_a_document_has_all_of_it() -> None:
    group = GroupReport("g", {P: (7, 2)}, "it has members on the target")

    told = as_document(copier(), [group], [proof()], 1.0, proven=True)

    assert told["proven"] is True
    assert told["partitions"][0]["offsets"] == "shifted"
    assert told["partitions"][0]["proof"]["source"] == {"from": 5, "records": 4, "checksum": "ab" * 16}
    assert told["groups"][0]["left_alone"] == "it has members on the target"
    assert as_document(copier(), [], [], 1.0, proven=False)["proven"] is None


def test_a_plan_shows_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    plans = [TopicPlan("t", 2, 1, create=True, notes=["x"]), TopicPlan("u", 2, 1, create=False, refusal="no")]
    facts = SimpleNamespace(records_at_most=7)

    print_plan(plans, cast(Any, SimpleNamespace(sources={"t": facts, "u": facts})), ["g"], as_json=False)

    told = capsys.readouterr()
    assert [line.split()[4:] for line in told.out.splitlines()[1:3]] == [["create", "x"], ["refuse", "no"]]
    assert "nothing was changed" in told.err
