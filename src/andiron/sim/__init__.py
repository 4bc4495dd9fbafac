"""The other edge: whole nodes in one thread, played from a seed.

play.py        a seed from beginning to end; plan.py, coordinated.py, clustered.py: what it decides first
world.py       one queue, one chance, many machines
host.py        a machine: its disk, and a node that comes and goes; clock.py: its clock; background.py: fsyncs and jobs
peers.py       what nodes ask each other
network.py     who listens where, and rifts; link.py: a connection, frames, tickets; exchange.py: one request
disk.py        a disk in memory that forgets, tears, fills up and rots; names.py: its directories
weather.py     what goes wrong, and when; moods.py: how bad it gets; rot.py: bits that turn over
clients/       those who use it and remember what they were promised
ledger.py      what they sent; catalog.py, shared_catalog.py: what they did to topics
mirror.py      the logs as they should be
canon.py       what is committed, whoever leads; leaders.py: who does; newest.py: the metadata of whoever is ahead
journal.py     the transactions they undertook; verdicts.py: what counts of them
watcher.py     those who watch; invariants/: what they watch for
trace.py       the history, as columns and as a hash
"""
