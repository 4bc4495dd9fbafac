from andiron.spark.runtime.machine_memory import memory_bytes


def test_a_containers_limit_counts(tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("1048576\n")
    assert memory_bytes((str(limit),)) == 1 << 20


def test_without_a_limit_it_is_the_machines(tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    assert 1 << 20 < memory_bytes((str(limit), "/nowhere")) < 1 << 60
