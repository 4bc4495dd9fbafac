"""DataFrames to DataFrames: the parts of a pipeline that are easy to get nearly right.

    topic ─▶ typed.py: rows of a schema ─▶ deduplication.py ─▶ windows.py, latest.py ─▶ a table, a topic
                 └─▶ dead_letters.py: what does not fit, with the reason why

Read next: typed.py.
"""
