"""Both disks keep the same promises: what holds on the simulated one holds on the real one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andiron.edge.disk import PosixDisk
from andiron.log.disk import FileSlice
from andiron.sim.disk import MemoryDisk
from properties.effort import tries


@pytest.fixture(params=["posix", "memory"])
def disk(request):
    disk = PosixDisk(descriptors=2) if request.param == "posix" else MemoryDisk()
    yield disk
    if isinstance(disk, PosixDisk):
        disk.close_all()


@pytest.fixture
def root(disk, tmp_path):
    disk.make_directory(str(tmp_path))
    return str(tmp_path)


# ── files ────────────────────────────────────────────────────────────────────────────


def test_what_is_appended_is_read(disk, root):
    file = disk.open(f"{root}/a")
    for part in (b"one", bytearray(b"two"), memoryview(b"-three-")[1:-1], b""):
        file.append(part)

    assert file.size == 11
    assert file.read(0, 11) == b"onetwothree"
    assert file.read(3, 3) == b"two"
    assert file.read(6, 1 << 40) == b"three"
    assert file.read(11, 5) == b""
    assert file.read(99, 5) == b""
    assert file.read(4, 0) == b""
    assert FileSlice(file, 3, 3).read() == b"two"


def test_the_buffer_is_free_after_an_append(disk, root):
    file, buffer = disk.open(f"{root}/a"), bytearray(b"first")
    file.append(buffer)
    buffer[:] = b"later"

    assert file.read(0, 5) == b"first"


def test_a_path_has_one_file_at_a_time(disk, root):
    assert disk.open(f"{root}/a") is disk.open(f"{root}/a")


def test_a_truncated_file_goes_on_from_there(disk, root):
    file = disk.open(f"{root}/a")
    file.append(b"0123456789")

    file.truncate(4)
    file.append(b"x")
    file.truncate(50)

    assert (file.size, file.read(0, 50)) == (5, b"0123x")


def test_a_synced_and_closed_file_goes_on_as_before(disk, root):
    file = disk.open(f"{root}/a")
    file.append(b"one")
    file.sync()
    file.close()
    file.append(b"two")

    assert file.read(0, 6) == b"onetwo"


def test_an_opened_file_exists_though_empty(disk, root):
    assert not disk.exists(f"{root}/a")
    assert disk.open(f"{root}/a").size == 0
    assert disk.exists(f"{root}/a")
    assert disk.names(root) == {"a": 0}


# ── directories ──────────────────────────────────────────────────────────────────────


def test_names_come_in_order_with_sizes_and_directories_marked(disk, root):
    disk.make_directory(f"{root}/t-0/inner")
    disk.make_directory(f"{root}/t-0")
    disk.open(f"{root}/b").append(b"12345")
    disk.write_file(f"{root}/a", b"1")

    assert list(disk.names(root).items()) == [("a", 1), ("b", 5), ("t-0/", 0)]
    assert disk.names(f"{root}/t-0") == {"inner/": 0}
    assert disk.names(f"{root}/none") == {}


def test_syncing_a_directory_changes_nothing_to_be_seen(disk, root):
    disk.open(f"{root}/a").append(b"x")
    disk.sync_directory(root)

    assert disk.names(root) == {"a": 1}


def test_there_is_room_where_files_are(disk, root):
    total, free = disk.usage(root)

    assert 0 < free <= total


# ── small files ──────────────────────────────────────────────────────────────────────


def test_a_small_file_is_replaced_whole(disk, root):
    disk.write_file(f"{root}/a", b"a longer text")
    disk.write_file(f"{root}/a", b"short")

    assert disk.read_file(f"{root}/a") == b"short"
    assert disk.names(root) == {"a": 5}


def test_a_file_is_read_whole_while_it_is_open(disk, root):
    disk.open(f"{root}/a").append(b"abc")

    assert disk.read_file(f"{root}/a") == b"abc"


def test_replacing_a_file_ends_the_one_that_was_open(disk, root):
    file = disk.open(f"{root}/a")
    file.append(b"old")
    disk.write_file(f"{root}/a", b"newer")

    with pytest.raises(FileNotFoundError):
        file.append(b"x")
    assert disk.open(f"{root}/a").read(0, 9) == b"newer"


# ── renaming and removing ────────────────────────────────────────────────────────────


def test_an_open_file_follows_its_new_name(disk, root):
    file = disk.open(f"{root}/a")
    file.append(b"one")

    disk.rename(f"{root}/a", f"{root}/b")
    file.close()
    file.append(b"two")

    assert file.path == f"{root}/b"
    assert disk.open(f"{root}/b") is file
    assert disk.names(root) == {"b": 6}
    assert disk.open(f"{root}/a").size == 0


def test_open_files_follow_their_directory(disk, root):
    disk.make_directory(f"{root}/old/inner")
    near, far = disk.open(f"{root}/old/a"), disk.open(f"{root}/old/inner/b")
    other = disk.open(f"{root}/older")

    disk.rename(f"{root}/old", f"{root}/new")
    for file in (near, far, other):
        file.close()
        file.append(b"x")

    assert [file.path for file in (near, far, other)] == [
        f"{root}/new/a",
        f"{root}/new/inner/b",
        f"{root}/older",
    ]
    assert disk.names(f"{root}/new") == {"a": 1, "inner/": 0}
    assert disk.names(f"{root}/new/inner") == {"b": 1}
    assert disk.open(f"{root}/new/inner/b") is far


def test_a_file_renamed_over_another_takes_its_place(disk, root):
    kept, lost = disk.open(f"{root}/a"), disk.open(f"{root}/b")
    kept.append(b"kept")
    lost.append(b"lost!")

    disk.rename(f"{root}/a", f"{root}/b")

    assert disk.names(root) == {"b": 4}
    assert disk.open(f"{root}/b") is kept
    with pytest.raises(FileNotFoundError):
        lost.append(b"x")


def test_what_is_removed_is_gone_and_its_files_are_of_no_use(disk, root):
    disk.make_directory(f"{root}/t-0/inner")
    files = [disk.open(f"{root}/{name}") for name in ("a", "t-0/b", "t-0/inner/c")]
    for file in files:
        file.append(b"x" * (2 << 20))

    disk.remove(f"{root}/a")
    disk.remove(f"{root}/t-0")
    disk.remove(f"{root}/none")

    assert disk.names(root) == {}
    assert not disk.exists(f"{root}/t-0/inner/c")
    for file in files:
        for use in (lambda f: f.append(b"x"), lambda f: f.read(0, 1), lambda f: f.sync()):
            with pytest.raises(FileNotFoundError):
                use(file)


def test_a_removed_file_can_be_made_again(disk, root):
    disk.open(f"{root}/a").append(b"old")
    disk.remove(f"{root}/a")

    assert disk.open(f"{root}/a").size == 0


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda disk, root: disk.open(f"{root}/none/a"), FileNotFoundError),
        (lambda disk, root: disk.open(f"{root}/dir"), IsADirectoryError),
        (lambda disk, root: disk.open(f"{root}/file/a"), NotADirectoryError),
        (lambda disk, root: disk.read_file(f"{root}/none"), FileNotFoundError),
        (lambda disk, root: disk.read_file(f"{root}/dir"), IsADirectoryError),
        (lambda disk, root: disk.write_file(f"{root}/none/a", b""), FileNotFoundError),
        (lambda disk, root: disk.write_file(f"{root}/dir", b""), IsADirectoryError),
        (lambda disk, root: disk.names(f"{root}/file"), NotADirectoryError),
        (lambda disk, root: disk.make_directory(f"{root}/file"), FileExistsError),
        (lambda disk, root: disk.sync_directory(f"{root}/none"), FileNotFoundError),
        (lambda disk, root: disk.rename(f"{root}/none", f"{root}/a"), FileNotFoundError),
        (lambda disk, root: disk.rename(f"{root}/file", f"{root}/none/a"), FileNotFoundError),
        (lambda disk, root: disk.rename(f"{root}/file", f"{root}/dir"), IsADirectoryError),
        (lambda disk, root: disk.rename(f"{root}/dir", f"{root}/file"), NotADirectoryError),
        (lambda disk, root: disk.rename(f"{root}/dir", f"{root}/full"), OSError),
    ],
)
def test_what_cannot_be_done_changes_nothing(disk, root, wrong, error):
    disk.make_directory(f"{root}/dir")
    disk.make_directory(f"{root}/full/inner")
    disk.open(f"{root}/file").append(b"x")

    with pytest.raises(error):
        wrong(disk, root)

    assert disk.names(root) == {"dir/": 0, "file": 1, "full/": 0}


# ── any history ──────────────────────────────────────────────────────────────────────

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "e/a"])
DIRECTORIES = st.sampled_from(["d", "e"])
STEPS = st.one_of(
    st.tuples(st.just("append"), NAMES, st.binary(max_size=8)),
    st.tuples(st.just("truncate"), NAMES, st.integers(0, 12)),
    st.tuples(st.just("write"), NAMES, st.binary(max_size=8)),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("rename"), DIRECTORIES, DIRECTORIES),
    st.tuples(st.just("remove"), st.one_of(NAMES, DIRECTORIES), st.none()),
    st.tuples(st.just("make"), DIRECTORIES, st.none()),
    st.tuples(st.just("close"), NAMES, st.none()),
)
_fresh = itertools.count()


@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=25))
def test_any_history_leaves_the_same_tree_on_both(tmp_path, steps):
    root = f"{tmp_path}/{next(_fresh)}"
    real, simulated = PosixDisk(descriptors=2), MemoryDisk()

    for each in (real, simulated):
        each.make_directory(f"{root}/d")
    for step in steps:
        assert _do(real, root, *step) == _do(simulated, root, *step), step
        assert _tree(real, root) == _tree(simulated, root), step
    real.close_all()


def _do(disk, root, verb, name, what):
    """Carry out one step; what comes of it is the error, or the open file's path and size."""
    path = f"{root}/{name}"
    try:
        match verb:
            case "append":
                disk.open(path).append(what)
            case "truncate":
                disk.open(path).truncate(what)
            case "write":
                disk.write_file(path, what)
            case "rename" if name != what:
                disk.rename(path, f"{root}/{what}")
            case "remove":
                disk.remove(path)
            case "make":
                disk.make_directory(path)
            case "close":
                disk.open(path).close()
        if disk.exists(path) and verb in ("append", "truncate", "close"):
            return disk.open(path).path, disk.open(path).size
    except OSError as problem:
        return problem.errno
    return None


def _tree(disk, directory):
    found = {}
    for name, size in disk.names(directory).items():
        path = f"{directory}/{name}"
        found[name] = _tree(disk, path[:-1]) if name.endswith("/") else disk.open(path).read(0, size)
    return found
