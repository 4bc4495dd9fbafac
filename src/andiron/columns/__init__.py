"""Record batches as Arrow columns, and Arrow columns as record batches: no object for each record.

Read next: decode.py for the way in, encode.py for the way out; then native.py for why there are two of each.
"""
