"""One cluster's topics, records and groups brought to another, over the network, by two clients and nothing else.

    source ──fetch──▶ chunks.py: batches as they are, small ones together ──▶ producer.py ──▶ target
                                     │ where offsets shift: offset_map.py
                                     └──▶ state.py: a compacted topic on the target

    selection.py  which topics          plan.py    what is made on the target, and what is refused
    cluster_side.py      both clusters, asked  lead_in.py offsets before the source's first one
    copier.py     the rounds            groups.py  committed offsets, translated      proof.py  both sides, compared

The law (decision 21): the end of a target partition is the progress of its copy. Nothing else is written there, and
whatever arrives twice, from this process or from one that was killed, is known to the target by its sequence number.

Read next: offset_map.py, then copier.py.
"""
