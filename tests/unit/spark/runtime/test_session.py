"""What a session is started with; the session itself is in tests/spark."""

from __future__ import annotations

import sys

import pytest

from andiron.spark import session as start
from andiron.spark.runtime import session as module
from andiron.spark.runtime.session import (
    GIB,
    chosen_elsewhere,
    defaults,
    is_local,
    set_environment,
    shipped,
)

CLUSTER = "spark://somewhere:7077"


@pytest.fixture(autouse=True)
def some_java(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "use_java", lambda environ: environ.update(JAVA_HOME="/java"))
    monkeypatch.setattr(module, "preloaded_python", lambda environ: "/preloaded/python")
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "cache"))


def test_a_setting_must_have_sparks_name():
    with pytest.raises(TypeError, match=r"'ui' does not begin with 'spark.'"):
        start(ui=True)


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2]", "local-cluster[2,1,512]"])
def test_masters_on_this_machine(master):
    assert is_local(master)


@pytest.mark.parametrize("master", [CLUSTER, "yarn", "k8s://https://somewhere:6443"])
def test_masters_elsewhere(master):
    assert not is_local(master)


def test_this_machines_memory_is_used_modestly(monkeypatch):
    for there, heap in ((1 * GIB, "1024m"), (16 * GIB, "2048m"), (256 * GIB, "4096m")):
        monkeypatch.setattr(module, "memory_bytes", lambda there=there: there)
        assert defaults("local[*]")["spark.driver.memory"] == heap


def test_a_clusters_memory_is_the_clusters_affair():
    assert not [name for name in defaults(CLUSTER) if "memory" in name]


def test_the_installations_defaults_are_read(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.master  spark://a:7077\nspark.x=1 2\nspark.empty\nother 3\nspark.java -XX:Level=1 -Xa:b\n"
    )
    found = chosen_elsewhere({"SPARK_CONF_DIR": str(tmp_path)})
    assert found == {"spark.master": "spark://a:7077", "spark.x": "1 2", "spark.java": "-XX:Level=1 -Xa:b"}


def test_without_an_installation_nothing_is_chosen():
    assert chosen_elsewhere({}) == {}


def test_on_this_machine_spark_starts_this_python():
    environ = {"PYSPARK_PYTHON": "/another/python"}
    set_environment("local[*]", {}, environ)
    assert environ == {
        "JAVA_HOME": "/java",
        "PYSPARK_DRIVER_PYTHON": "/preloaded/python",
        "PYSPARK_PYTHON": "/preloaded/python",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    set_environment("local[*]", {"spark.andiron.preload": "false"}, environ)
    assert environ["PYSPARK_DRIVER_PYTHON"] == environ["PYSPARK_PYTHON"] == sys.executable


def test_on_a_cluster_the_executors_python_may_be_another():
    environ = {"PYSPARK_PYTHON": "/another/python"}
    set_environment(CLUSTER, {}, environ)
    assert environ["PYSPARK_PYTHON"] == "/another/python"
    assert environ["PYSPARK_DRIVER_PYTHON"] == "/preloaded/python"
    assert "SPARK_LOCAL_IP" not in environ


def test_what_is_preloaded_on_this_machine_is_not_looked_for_on_a_clusters():
    environ: dict[str, str] = {}
    set_environment(CLUSTER, {}, environ)
    assert environ["PYSPARK_PYTHON"] == sys.executable


def test_the_python_that_is_asked_for_wins():
    for master in ("local[*]", CLUSTER):
        environ = {"PYSPARK_PYTHON": "/another/python"}
        set_environment(master, {"spark.pyspark.python": "/this/python"}, environ)
        assert environ["PYSPARK_PYTHON"] == "/this/python"


def test_a_jvm_that_runs_already_keeps_its_java():
    environ = {"PYSPARK_GATEWAY_PORT": "1"}
    set_environment(CLUSTER, {}, environ)
    assert "JAVA_HOME" not in environ


def test_what_is_shipped_comes_beside_what_was_chosen():
    chosen = {"spark.archives": "mine.zip#mine", "spark.executorEnv.PYTHONPATH": "mine"}
    settings = shipped(chosen)
    first, second = settings["spark.archives"].split(",")
    assert first == "mine.zip#mine"
    assert second.endswith(".zip#andiron_executors")
    assert settings["spark.executorEnv.PYTHONPATH"] == "andiron_executors:mine"
