"""The kinds of session in which people use a connector: ours or one of their own, classic or through Spark Connect.

$ANDIRON_SPARK_KIND    session                                       what a test is given
ours                   andiron.spark.session()                       itself
own                    SparkSession.builder, filters handed down     itself
connect                as ours, with a Connect server in it          a client of that
own-connect            as own, with a Connect server in it           a client of that
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from peers.ports import free_port

KIND = "ANDIRON_SPARK_KIND"
OURS = "ours"
OTHERS = ("own", "connect", "own-connect")
MASTER = "local[2]"
_PUSHDOWN = {"spark.sql.python.filterPushdown.enabled": "true"}


def start(conf: Mapping[str, str]) -> Any:
    """A session of the kind that the environment asks for."""
    kind = os.environ.get(KIND, OURS)
    if not kind.endswith("connect"):
        return _classic(kind, conf)
    port = free_port()
    server = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    os.environ["PYTHONPATH"] = str(
        Path(__file__).parents[1]
    )  # functions of tests run in the server's processes
    _classic(kind, {**conf, **server})
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    return RemoteSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()


def _classic(kind: str, conf: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    from andiron import spark as ours

    if not kind.startswith("own"):
        return ours.session("tests", master=MASTER, **conf)
    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    builder = SparkSession.builder.master(MASTER).appName("tests")
    for name, value in {**_PUSHDOWN, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
