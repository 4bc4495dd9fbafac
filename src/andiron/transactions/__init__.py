"""The transaction coordinator: which writes of a producer count together, and whether they do."""
