"""The client library: producers, readers, transactions and administration, in Python and in Arrow columns.

    core/          what a client decides, without a socket: partitions, batches, versions, positions
    connection.py  one broker over one blocking socket, requests pipelined
    blocking/      Client, Producer, PartitionReader and Admin for scripts and the command line;
                   ColumnProducer and ColumnReader, the same in Arrow columns, for Spark; Transaction;
                   GroupAdmin and TransactionAdmin for what coordinators keep; ClusterAdmin for brokers,
                   the quorum and where replicas are
    tables.py      `andiron.read_topic`: a topic as an Arrow table

What has columns in its name, and tables.py, need pyarrow; nothing else does.

Read next: blocking/client.py.
"""
