"""`andiron cluster`: brokers, the metadata quorum, reassignments and leader elections.

commands.py       the group of commands, with describe, elect and unregister
report.py         a cluster's brokers, and the partitions that are not well
quorum.py         the metadata quorum, shown and changed      quorum_report.py
reassign.py       move replicas: by topics and brokers, or by a plan in a file
drain.py          take everything off one broker
replica_moves.py         what the last two share: begin, follow, throttle      options.py
current_moves.py      moves that are under way, shown and called off
"""
