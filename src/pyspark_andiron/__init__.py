"""Where Spark finds `format("andiron")`: it looks through every package whose name begins with `pyspark_`."""

from andiron.spark.connector import DefaultSource

__all__ = ["DefaultSource"]
