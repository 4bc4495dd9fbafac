"""Record batches, format v2: the unit in which records are sent, stored, copied and read.

Read next: batch.py for the header, record.py for what lies inside, builder.py for the way back.
"""
