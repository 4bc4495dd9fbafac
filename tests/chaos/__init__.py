"""Long rounds of faults: three nodes under load by several libraries, a fault a round, an account of every record.

    plan.py      which fault comes in which round, from a seed
    ledger.py    what each writer was told of each of its records
    writers/     one module a library: records numbered by partition, without a gap
    bankers.py   transactions of several records, some of them aborted
    bridge.py    from one topic to another, exactly once
    readers.py   groups that read along, and commit how far they are
    audit.py     all that is in the log in the end, beside what everybody was told
    arena.py     the cluster, everybody at work, the rounds

    python -m chaos --rounds 50        (with tests/ and src/ on PYTHONPATH)

Read next: arena.py.
"""
