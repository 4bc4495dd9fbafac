"""Metrics: what a node tells Prometheus of itself.

    meter.py      counts while the loop turns: how busy it is, how long requests and fsyncs take
    survey.py     one look at everything there is to tell, in pieces
    families.py   what a metric is: name, kind, meaning, what Kafka calls it
    catalog.py    all of them, from replication.py, traffic.py, cluster.py and process.py
    text.py       Prometheus' text format
    server.py     GET /metrics and GET /healthz, between two turns of the loop

Counters below this layer are plain numbers in the machines that know them (traffic.py, stats.py in broker/telemetry/).
"""
