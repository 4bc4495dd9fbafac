"""Andiron: Kafka's log, written in Python and made for Spark."""

__version__ = "0.1.0"
