"""What a cluster's executors need of Andiron, in one archive that Spark brings to them.

    driver                                    executor, in its working folder
    <cache>/executors-<hash>.zip#andiron_executors ──▶ ./andiron_executors/andiron, pyspark_andiron, cramjam, …
                                              PYTHONPATH=andiron_executors

Spark unpacks archives and does not unpack `--py-files`: the codecs and checksums are native libraries,
which Python cannot load out of a zip. The archive's name is the hash of what is in it, so it is made once,
and made anew when a file changes.

The executors bring Python of the same minor version and platform with pyarrow, numpy and pandas in it;
Spark itself brings pyspark. Elsewhere Andiron is installed on the executors and `spark.andiron.ship` is
set to false.

    python -m andiron.spark.runtime.shipping [FILE]      writes the archive for those who call spark-submit themselves
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

from andiron.spark.runtime.cache import cache_folder

PACKAGES = ("andiron", "pyspark_andiron")
# By the names pip knows. protobuf is for Spark's own state API, which needs it and does not bring it.
DISTRIBUTIONS = ("cramjam", "google-crc32c", "protobuf")
PATH_OF_WHAT_IS_SHIPPED = "andiron_executors"
SKIPPED_FOLDERS = {"__pycache__", "ext"}
SKIPPED_ENDS = (".pyc", ".pyi", ".c", ".h")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is written


def archive() -> str:
    """The archive as `spark.archives` takes it: its path and the folder it is unpacked to."""
    return f"{archive_file()}#{PATH_OF_WHAT_IS_SHIPPED}"


def archive_file() -> str:
    """The path of the archive, which is written if it is not in the cache."""
    files = dict(sorted(_files()))
    path = os.path.join(cache_folder(), f"executors-{_hash(files)}.zip")
    if not os.path.exists(path):
        with tempfile.NamedTemporaryFile(dir=cache_folder(), delete=False) as scratch:
            _write(files, scratch.name)
        os.rename(scratch.name, path)
    return path


def _files() -> Iterator[tuple[str, str]]:
    """The name in the archive and the path on this machine of every file."""
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None, f"{package} is not installed"
        yield from _files_below(os.path.dirname(spec.origin), package)
    for name in DISTRIBUTIONS:
        for file in metadata.files(name) or ():
            is_program = ".." in file.parts or file.suffix in SKIPPED_ENDS
            if not is_program and not SKIPPED_FOLDERS.intersection(file.parts):
                yield file.as_posix(), str(file.locate())


def _files_below(folder: str, name: str) -> Iterator[tuple[str, str]]:
    for where, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each not in SKIPPED_FOLDERS]
        below = os.path.relpath(where, folder)
        for file in files:
            if not file.endswith(SKIPPED_ENDS):
                inside = os.path.normpath(os.path.join(name, below, file))
                yield inside.replace(os.sep, "/"), os.path.join(where, file)


def _hash(files: dict[str, str]) -> str:
    total = hashlib.sha256()
    for name, path in files.items():
        with open(path, "rb") as file:
            total.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def _write(files: dict[str, str], target: str) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name, path in files.items():
            with open(path, "rb") as file:
                out.writestr(zipfile.ZipInfo(name, LONG_AGO), file.read(), zipfile.ZIP_DEFLATED)


def main(arguments: list[str]) -> None:
    """Write the archive to a file, or say where it is."""
    made = archive_file()
    print(shutil.copyfile(made, arguments[0]) if arguments else made)


if __name__ == "__main__":
    main(sys.argv[1:])
