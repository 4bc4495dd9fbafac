"""Rows into topics, exactly once.

    task     spark_writers.py ─▶ row_writer.py ─▶ task_transaction.py: rows, written and left open: prepared
                                                        └─▶ task_report.py, to the driver
    driver   spark_writers.py ─▶ commit_protocol.py: one decision for (query, batch), then each task's
                                 transaction is committed (decision_outcome.py)

    decision.py            what is decided, and the pointer to it, as the cluster keeps them
    ledger_request.py      what the protocol asks for; ledger.py asks a cluster for it
    job_commit.py          df.write by itself, which needs no decision
    participant_names.py   transactional ids; record_columns.py which columns are written

Read next: docs/spark-sink.md for the whole of it, commit_protocol.py for the protocol.
"""
