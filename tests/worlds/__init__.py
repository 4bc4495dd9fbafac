"""Small worlds for tests: a node on a disk in memory, and a client that asks it one thing at a time."""
