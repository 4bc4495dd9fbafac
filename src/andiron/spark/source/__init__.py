"""A topic as rows.

    driver   options.py ─▶ topics.py: what is there? ─▶ plan.py: what does this batch read? ─▶ ranges
             stream.py asks so for every micro-batch, batch.py once          │
    task     scan.py: one range, fetched and decoded into Arrow batches ◀────┘

Read next: stream.py, plan.py, scan.py.
"""
