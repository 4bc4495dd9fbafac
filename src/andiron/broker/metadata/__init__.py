"""Metadata at this node: its part in the quorum, snapshots, the way to the controller, what committed records do."""
