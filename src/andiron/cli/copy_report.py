"""What `andiron copy` shows: the plan before, and at the end what was copied, translated and proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from andiron.cli.output import columns, human_bytes, plural, print_json, remark
from andiron.copying.copier import Copier
from andiron.copying.copy_start import CopyStart
from andiron.copying.groups import GroupReport
from andiron.copying.partition_copy import PartitionCopy
from andiron.copying.plan import TopicPlan
from andiron.copying.proof import Proof

KEPT, SHIFTED = "kept", "shifted"
_DIGITS = 16  # characters of a checksum in the table


def print_plan(
    plans: Sequence[TopicPlan], opening: CopyStart, groups: Sequence[str], *, as_json: bool
) -> None:
    """Print the plan of a copy: topics, partitions and groups."""
    rows = [_planned(plan, opening) for plan in plans]
    if as_json:
        print_json({"dry_run": True, "topics": rows, "groups": list(groups)})
        return
    head = ("TOPIC", "PARTITIONS", "REPLICAS", "RECORDS AT MOST", "DO", "REMARKS")
    names = ("topic", "partitions", "replication_factor", "records_at_most", "do", "remarks")
    table = [[row[name] for name in names[:-1]] + ["; ".join(row["remarks"])] for row in rows]
    click.echo(columns(head, table))
    click.echo(f"groups: {', '.join(groups) if groups else 'none'}")
    remark("a dry run: nothing was changed")


def _planned(plan: TopicPlan, opening: CopyStart) -> dict[str, Any]:
    do = "create" if plan.create else "add partitions" if plan.grow else "go on" if plan.resumed else "fill"
    return {
        "topic": plan.name,
        "partitions": plan.partitions,
        "replication_factor": plan.replication_factor,
        "records_at_most": opening.sources[plan.name].records_at_most,
        "do": "refuse" if plan.refusal else do,
        "configs": plan.configs,
        "remarks": [*([plan.refusal] if plan.refusal else []), *plan.notes],
    }


def print_end(
    copier: Copier,
    groups: Sequence[GroupReport],
    proofs: Sequence[Proof],
    seconds: float,
    *,
    as_json: bool,
    proven: bool,
) -> None:
    """Print what was copied, and whether both sides compare equal."""
    if as_json:
        print_json(as_document(copier, groups, proofs, seconds, proven=proven))
        return
    size = copier.bytes
    pace = human_bytes(int(size / max(seconds, 0.001)))
    proof_of = {each.partition: each for each in proofs}
    rows = [_row(each, proof_of.get(each.partition)) for _, each in sorted(copier.copies.items())]
    click.echo(
        columns(("PARTITION", "COPIED NOW", "OFFSETS", "SOURCE", "TARGET", "RECORDS", "CHECKSUM"), rows)
    )
    for group in groups:
        if not group.left_alone:
            click.echo(f"group {group.group}: {plural(len(group.offsets), 'partition')} translated")
    click.echo(f"{plural(copier.records, 'record')} ({human_bytes(size)}) in {seconds:.1f} s, {pace}/s")
    differing = [each for each in proofs if not each.holds]
    for each in differing:
        remark(
            f"{each.partition} DIFFERS: the source has {plural(each.records[0], 'record')} with checksum "
            f"{each.checksums[0][:_DIGITS]}, the target {each.records[1]:,} with {each.checksums[1][:_DIGITS]}"
        )
    if proven and not differing:
        total = sum(each.records[0] for each in proofs)
        click.echo(f"proven: {plural(total, 'record')} on both sides, counts and checksums equal")
    for why in copier.set_aside.values():
        remark(f"not copied to the end: {why}")


def _row(copy: PartitionCopy, proof: Proof | None) -> tuple[Any, ...]:
    offsets = KEPT if copy.map.keeps_offsets else SHIFTED
    first = copy.map.first
    source, target = (
        (proof.source, proof.target) if proof else ((first.source, copy.source), (first.target, copy.target))
    )
    checked = (
        (proof.records[1], proof.checksums[1][:_DIGITS] if proof.holds else "DIFFERS")
        if proof
        else (None, None)
    )
    return (str(copy.partition), copy.records, offsets, _span(source), _span(target), *checked)


def _span(span: tuple[int, int]) -> str:
    return f"{span[0]}..{span[1]}"


def as_document(
    copier: Copier, groups: Sequence[GroupReport], proofs: Sequence[Proof], seconds: float, *, proven: bool
) -> dict[str, Any]:
    """The copy, its groups and proofs as JSON."""
    proof_of = {each.partition: each for each in proofs}
    return {
        "records": copier.records,
        "bytes": copier.bytes,
        "seconds": round(seconds, 3),
        "partitions": [
            _partition(each, proof_of.get(each.partition)) for _, each in sorted(copier.copies.items())
        ],
        "groups": [
            {
                "group": each.group,
                "left_alone": each.left_alone or None,
                "offsets": [
                    {"topic": name, "partition": number, "source": source, "target": target}
                    for (name, number), (source, target) in sorted(each.offsets.items())
                ],
            }
            for each in groups
        ],
        "proven": all(each.holds for each in proofs) and not copier.set_aside if proven else None,
        "set_aside": dict(copier.set_aside),
    }


def _partition(copy: PartitionCopy, proof: Proof | None) -> dict[str, Any]:
    return {
        "topic": copy.partition.topic,
        "partition": copy.partition.partition,
        "copied": copy.records,
        "offsets": KEPT if copy.map.keeps_offsets else SHIFTED,
        "source_end": copy.source,
        "target_end": copy.target,
        "proof": None
        if proof is None
        else {
            "holds": proof.holds,
            "compared": proof.compared,
            "source": {"from": proof.source[0], "records": proof.records[0], "checksum": proof.checksums[0]},
            "target": {"from": proof.target[0], "records": proof.records[1], "checksum": proof.checksums[1]},
        },
    }
