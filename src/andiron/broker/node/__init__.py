"""A node: one way in, and how a request goes through it. Still no I/O."""
