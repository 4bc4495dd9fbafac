"""What `log dump` shows of each file, as rows: a line of text for people, a JSON object for programs.

A row is a dict whose "type" says what it is: batch, record, entry, producer, epoch, offset, fields. What
cannot be read becomes a row too, of the type problem, and ends its file; the other files go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from andiron.cli import dump
from andiron.cli.dump import DataFile, Kind
from andiron.cli.json_records import show_bytes
from andiron.cli.output import plural
from andiron.cli.times import show_time
from andiron.model.errors import AndironError, ProtocolError
from andiron.records.batch import Batch
from andiron.records.compression import NAMES
from andiron.records.record import Record, records_of

Row = dict[str, Any]


def rows(file: DataFile, *, records: bool) -> Iterator[Row]:
    """The rows of one file; with `records`, batches are opened."""
    try:
        if file.kind is Kind.SEGMENT:
            yield from _segment(file, records)
        else:
            yield from _READERS[file.kind](file)
    except ProtocolError as error:
        yield {"type": "problem", "problem": error.detail}
    except (AndironError, ValueError) as error:
        yield {"type": "problem", "problem": str(error)}


def as_text(row: Row) -> str:
    """A row as a line."""
    match row["type"]:
        case "batch":
            return _batch_text(row)
        case "record":
            return _record_text(row)
        case "problem":
            return f"! {row['problem']}"
    return "  ".join(f"{name} {value}" for name, value in row.items() if name != "type")


# ── segments ─────────────────────────────────────────────────────────────────────────


def _segment(file: DataFile, opened: bool) -> Iterator[Row]:
    for position, batch in dump.segment_batches(file.path):
        yield _batch_row(position, batch)
        if opened or file.is_metadata or batch.is_control:
            for record in records_of(batch):
                yield _record_row(file, batch, record)


def _batch_row(position: int, batch: Batch) -> Row:
    return {
        "type": "batch",
        "position": position,
        "size": batch.size,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "count": batch.count,
        "leader_epoch": batch.leader_epoch,
        "codec": NAMES[batch.codec] if batch.codec < len(NAMES) else f"codec {batch.codec}",
        "timestamp_type": "LogAppendTime" if batch.timestamp_type else "CreateTime",
        "base_timestamp": batch.base_timestamp,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon": batch.delete_horizon,
        "crc": batch.crc,
        "intact": batch.is_intact(),
    }


def _record_row(file: DataFile, batch: Batch, record: Record) -> Row:
    row: Row = {"type": "record", "offset": record.offset, "timestamp": record.timestamp}
    if batch.is_control:
        row["control"] = dump.control_fields(batch, record)
    elif file.is_metadata:
        row["metadata"] = dump.metadata_fields(record)
    else:
        show_bytes(row, "key", record.key)
        show_bytes(row, "value", record.value)
        row["headers"] = []
        for name, value in record.headers:
            header: Row = {"key": name}
            show_bytes(header, "value", value)
            row["headers"].append(header)
    return row


def _batch_text(row: Row) -> str:
    parts = [f"batch {row['base_offset']}-{row['last_offset']}", plural(row["count"], "record")]
    parts += [f"at {row['position']}", f"{row['size']} bytes", f"epoch {row['leader_epoch']}"]
    parts += [show_time(row["max_timestamp"]) or "no time"]
    if row["codec"] != "none":
        parts.append(row["codec"])
    if row["timestamp_type"] == "LogAppendTime":
        parts.append("LogAppendTime")
    if row["producer_id"] >= 0:
        parts.append(f"producer {row['producer_id']}/{row['producer_epoch']} from {row['base_sequence']}")
    parts += [word for word in ("transactional", "control") if row[word]]
    if row["delete_horizon"] is not None:
        parts.append(f"tombstones until {show_time(row['delete_horizon'])}")
    if not row["intact"]:
        parts.append("CHECKSUM DOES NOT HOLD")
    return "  ".join(parts)


def _record_text(row: Row) -> str:
    head = f"  {row['offset']}  {show_time(row['timestamp'])}"
    said = row.get("control") or row.get("metadata")
    if said:
        return f"{head}  {said['name']} {_fields_text(said)}".rstrip()
    headers = " ".join(f"{header['key']}={_side(header, 'value')}" for header in row["headers"])
    return f"{head}  {_side(row, 'key')}: {_side(row, 'value')}" + (f"  [{headers}]" if headers else "")


def _fields_text(said: Row) -> str:
    fields = said.get("fields") or {name: value for name, value in said.items() if name != "name"}
    return " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())


def _side(row: Row, name: str) -> str:
    if f"{name}_base64" in row:
        return f"base64:{row[f'{name}_base64']}"
    return "null" if row[name] is None else json.dumps(row[name], ensure_ascii=False)


# ── the others ───────────────────────────────────────────────────────────────────────


def _offset_index(file: DataFile) -> Iterator[Row]:
    for offset, position in dump.offset_entries(file):
        yield {"type": "entry", "offset": offset, "position": position}


def _time_index(file: DataFile) -> Iterator[Row]:
    for timestamp, offset in dump.time_entries(file):
        yield {"type": "entry", "timestamp": timestamp, "offset": offset}


def _abort_index(file: DataFile) -> Iterator[Row]:
    for aborted in dump.abort_entries(file):
        yield {"type": "entry", **aborted._asdict()}


def _producers(file: DataFile) -> Iterator[Row]:
    for state in dump.producers(file.path):
        last = state.batches[-1] if state.batches else None
        yield {
            "type": "producer",
            "producer_id": state.id,
            "producer_epoch": state.epoch,
            "last_sequence": last.last_sequence if last else -1,
            "last_offset": last.last_offset if last else -1,
            "timestamp": state.last_timestamp,
            "coordinator_epoch": state.coordinator_epoch,
            "transaction_start": state.transaction_start,
        }


def _epochs(file: DataFile) -> Iterator[Row]:
    for epoch, start in dump.epochs(file.path):
        yield {"type": "epoch", "epoch": epoch, "start": start}


def _offsets(file: DataFile) -> Iterator[Row]:
    for (topic, number), offset in dump.offsets(file.path).items():
        yield {"type": "offset", "topic": topic, "partition": number, "offset": offset}


def _partition_metadata(file: DataFile) -> Iterator[Row]:
    yield {"type": "fields", "topic_id": dump.topic_id(file.path)}


def _meta(file: DataFile) -> Iterator[Row]:
    yield {"type": "fields", **dump.identity(file.path)._asdict()}


def _json(file: DataFile) -> Iterator[Row]:
    text = dump.contents(file.path).decode("utf-8", "replace")
    yield {"type": "fields", **(json.loads(text) if text.strip() else {})}


def _unknown(file: DataFile) -> Iterator[Row]:
    yield {"type": "problem", "problem": "not a file of a log, as far as its name tells"}


def _flushed(file: DataFile) -> Iterator[Row]:
    for offset in dump.flushed_offsets(file.path):
        yield {"type": "offset", "flushed": offset}


_READERS: dict[Kind, Callable[[DataFile], Iterator[Row]]] = {
    Kind.OFFSET_INDEX: _offset_index,
    Kind.TIME_INDEX: _time_index,
    Kind.ABORT_INDEX: _abort_index,
    Kind.PRODUCERS: _producers,
    Kind.EPOCHS: _epochs,
    Kind.OFFSETS: _offsets,
    Kind.PARTITION_METADATA: _partition_metadata,
    Kind.META: _meta,
    Kind.JSON: _json,
    Kind.FLUSHED: _flushed,
    Kind.UNKNOWN: _unknown,
}
