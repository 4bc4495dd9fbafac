"""The machines made into a broker: a node that takes events and gives effects. Still no I/O."""
