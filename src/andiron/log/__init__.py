"""One partition on disk, in Kafka's own files."""
