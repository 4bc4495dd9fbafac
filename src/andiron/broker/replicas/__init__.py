"""The replicas of partitions that this broker holds: led, followed, fetched, moved and kept on disk."""
