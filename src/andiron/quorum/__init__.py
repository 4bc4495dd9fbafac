"""The metadata quorum: Raft over the same log and the same Fetch as any partition."""
