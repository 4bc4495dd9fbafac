"""What a node tells of itself and of its clients: counts, lags, and the metrics that clients push."""
