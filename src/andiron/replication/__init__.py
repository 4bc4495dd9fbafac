"""Who holds what of a partition, and when a record counts as committed."""
