"""What a client decides: pure, so that the simulator's clients decide the same.

Read next: metadata.py, then accumulator.py for the way out and positions.py for the way in;
group_descriptions.py and transaction_descriptions.py for what an operator sees.
"""
