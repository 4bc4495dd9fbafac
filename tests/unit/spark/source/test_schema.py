"""The columns are those of Spark's own Kafka source, in Spark's types and in Arrow's."""

import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from andiron.columns.schema import arrow_schema
from andiron.model.settings import SettingError
from andiron.spark.source.schema import check_schema, spark_schema


@pytest.mark.parametrize("headers", [False, True])
def test_spark_and_arrow_agree(headers):
    assert to_arrow_schema(spark_schema(headers), timezone="UTC").equals(arrow_schema(headers))


def test_the_columns_have_their_names_and_types():
    assert spark_schema(True).simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
        "timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )


def test_a_schema_cannot_be_chosen():
    check_schema(spark_schema(True), headers=True)
    for given, headers in ((spark_schema(True), False), (StructType().add("value", "string"), False)):
        with pytest.raises(SettingError, match="schema: cannot be chosen: this source has key:binary,"):
            check_schema(given, headers)
