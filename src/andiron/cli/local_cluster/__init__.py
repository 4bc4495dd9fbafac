"""A cluster on one machine: `andiron up --brokers N`, one process for each node and one that looks after them.

    start.py       from the command line to all of these
    layout.py      which node has which ports and roles, and the settings that follow
    folder.py      DATA/node-1 … node-N: what is there already, and what is written before the start
    child.py       one node's process, its log, and why it ended
    lifeline.py    the node's side: it ends when the process that started it does
    status.py      what the nodes say of themselves, asked as any client asks
    supervisor.py  start, watch, restart, stop in order

Nothing here is known to a broker: the nodes are what `andiron up --config FILE` starts on any machine.
"""
