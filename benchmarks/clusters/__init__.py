"""Three nodes of Andiron and three of Apache Kafka, and what is asked of both: the parts of `cluster.py`.

nodes.py      both clusters with one face: started, killed and started again node by node; CPU and memory of all
asking.py     what a cluster says of itself: who leads, who is in sync, what is being moved
pulse.py      a record every few milliseconds to one partition, and the longest gap between acknowledgements
probe.py      the same of every node at once: the gap that is the cluster's alone
part.py       one kind of rows, asked of a cluster that is there for it alone
traffic.py    produce and consume: rates, CPU, memory; latency at a steady rate
failover.py   a leader is killed, stopped; the controller is killed; a broker comes back
moving.py     replicas move to another broker
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))  # where the peers are
