"""Failure injection: a cluster of real processes, harm done to it under load, and an account of every record.

    command.py     `andiron chaos`
    cells.py       acks × min.insync.replicas × fsync
    experiment.py  one cell: load, harm, kill, mend, read back
    cluster.py     the nodes; faults.py what is done to them; proxy.py, switchboard.py the wires between them
    load.py        the writers; records.py what is known of a record; timeline.py who was in sync when
    account.py     lost, repeated, out of order, unavailable; verdict.py whether that is as it must be
    rebalance.py   a group scaled from one member to three
    report.py      the page, with plots.py and svg.py; ledger.py the same as JSON

Read next: experiment.py.
"""
