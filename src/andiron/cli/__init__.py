"""The `andiron` command: a node to start, and a client of any cluster.

    main.py      the commands, each loaded when it is called
    up.py        start a node, or a cluster on one machine: local_cluster/
    topic.py     produce.py     consume.py     config.py      what a cluster's users do
    group.py     transaction.py cluster/                      what its operators do
    log.py       look into the files of a stopped node: dump.py decodes, verify.py complains
    reference.py writes docs/settings.md and docs/apis.md from the tables

Whatever talks to a broker does so as any client would, through andiron.client.

Exit codes: 0 fine · 1 it failed, one line on stderr says what and what to do · 2 wrong usage.
"""
