"""Tables that hold each record of the log once, and can prove it.

    files.py              local paths and the file systems that pyarrow knows
    checkpoint.py         which offsets a micro-batch is made of, by the query's checkpoint
    table_commit.py       what a table notes with each batch, and which batch may follow which
    table_writer.py       one micro-batch: stage, commit, or nothing if it is there already
    parquet.py            a directory a batch, renamed into place
    delta.py              Delta through delta-rs: append and upsert
    verification.py       the table beside the log, range by range

Read next: docs/tables.md, then table_writer.py.
"""
