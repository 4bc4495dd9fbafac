"""subscribePattern in Java's language: our translation beside java.util.regex itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from peers.patterns import NAMES, PATTERNS, made_up, made_up_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MADE_UP = 300


def test_patterns_match_the_same_names_in_java(spark: SparkSession) -> None:
    from andiron.spark.source.patterns import compile_java

    java: Any = spark.sparkContext._jvm.java.util.regex.Pattern  # type: ignore[union-attr]
    told = [(pattern, NAMES) for pattern, names in PATTERNS if names is not None]
    for pattern, names in told + [(made_up(seed), made_up_names(seed)) for seed in range(MADE_UP)]:
        here, there = compile_java(pattern), java.compile(pattern)
        found = {each: bool(here.fullmatch(each)) for each in names}
        assert found == {each: there.matcher(each).matches() for each in names}, pattern


def test_what_java_refuses_is_refused(spark: SparkSession) -> None:
    java: Any = spark.sparkContext._jvm.java.util.regex.Pattern  # type: ignore[union-attr]
    for pattern, names in PATTERNS:
        if names is None:
            try:
                java.compile(pattern)
            except Exception:
                continue
            raise AssertionError(f"Java takes {pattern}")
