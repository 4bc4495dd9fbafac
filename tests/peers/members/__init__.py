"""Members of consumer groups, each in a process of its own, in other people's code.

What a member is told and what it tells travels in JSON lines (told by `hosting.py`, taken by `member.py`):

    in    {"do": "join", "group": …}   {"do": "pause"}   {"do": "resume"}   {"do": "leave"}
    out   {"member": "a", "at": ns, "event": "assigned", "partitions": [["t", 0], …]}
          … revoked · lost · record · committed · error · left

The programs are `confluent.py`, `kafka_python.py` and `aio.py` here, one process a member, and
`../java/Members.java`, which can hold several.

hosting.py  the processes, as a test sees them     group.py  a group: its topics, members and records
member.py   a member, as it sees itself            laws.py   what must hold of the lines they wrote
kinds.py    clients, assignors, protocols
"""
