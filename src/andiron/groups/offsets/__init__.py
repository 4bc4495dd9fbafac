"""Committed offsets: kept by the name of a group, whatever protocol it speaks."""
