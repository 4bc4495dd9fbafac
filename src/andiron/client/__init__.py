"""The client library: a cluster as its users see it.

    core/          what a client decides, without a socket: partitions, batches, versions, positions
    connection.py  one broker over one blocking socket, requests pipelined
    blocking/      Client, Producer, PartitionReader and Admin for scripts, the command line and Spark;
                   GroupAdmin and TransactionAdmin for what coordinators keep

Read next: blocking/client.py.
"""
