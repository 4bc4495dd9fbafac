"""Rows into topics, exactly once.

    task     writers.py ─▶ writing.py: rows in a transaction of the task's own ─▶ prepared ─▶ told to the driver
    driver   writers.py ─▶ commits.py: one decision for (query, batch), then each task's transaction is committed

Read next: docs/spark-sink.md for the whole of it, commits.py for the protocol.
"""
