"""A soak: the load, what is looked at meanwhile, and the picture of it."""
