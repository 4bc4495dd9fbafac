"""What the tests and benchmarks talk with: servers as real processes, and clients in other people's code.

jars.py     where Kafka's jar files are, or how they are fetched
process.py  a server in a process of its own: start, stop, kill, restart
kafka.py    Apache Kafka, single node        node.py   Andiron, single node
probe.py    is anything answering there?     raw.py    one request, byte for byte
quick_java.py  a Java that comes up quickly, for all of Kafka's
jvm.py      a Java client that takes commands    clients/  one adapter a client library
asking.py   any request in any version       tooling.py    Kafka's own command line tools
groups/     what clients ask of groups from outside
members/    consumers in groups, and transactors/  producers in transactions: each in a process of its own
"""
