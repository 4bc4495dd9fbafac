"""A controller to talk to, without a node around it."""
