"""What pyproject.toml cannot say: what is compiled, and what a wheel holds beside the code.

Compiled is native/, for records, columns and network threads. Where there is no compiler, Python and numpy do its
work, and the loop that of the threads; these need epoll, so there are none but on Linux. All extensions speak Python's
limited API, so that one wheel serves every Python from 3.11 on; builds without the interpreter lock have none yet
and get a wheel of their own.

Pipelines, examples, files for production and documentation lie at the top of the checkout, where people look for
them. Whoever installs a wheel has no checkout, so it holds copies (andiron/shipped.py names them, and finds either).
"""

import runpy
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

# Run, not imported: the package may need what a machine that builds it has not.
SHIPPED = runpy.run_path("src/andiron/shipped.py")
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


class BuildWithFolders(build_py):
    """Python's part of a build, and the folders that are shipped with it."""

    def run(self) -> None:
        """An editable installation has the checkout, and needs no copies."""
        super().run()
        if not self.editable_mode:
            for name in SHIPPED["FOLDERS"]:
                target = Path(self.build_lib, "andiron", "share", name)
                left_behind = shutil.ignore_patterns(*SHIPPED["LEFT_BEHIND"])
                shutil.copytree(name, target, ignore=left_behind, dirs_exist_ok=True)


def compiled(name: str, parts: list[str], headers: list[str]) -> Extension:
    return Extension(
        name,
        [f"native/{part}.c" for part in parts],
        depends=[f"native/{header}.h" for header in headers],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED else [],
        extra_compile_args=["-O3", "-Wall", "-Wextra"],
        py_limited_api=LIMITED,
        optional=True,
    )


THREADS = compiled("andiron.edge._native", ["request_channel", "processor"], ["processor"])

setup(
    cmdclass={"build_py": BuildWithFolders},
    ext_modules=[
        compiled(
            "andiron.records._native",
            ["records", "repeat", "check", "crc32c", "walk", "seek"],
            ["records", "record", "walk"],
        ),
        compiled(
            "andiron.columns._native", ["columns", "decode", "encode", "murmur2"], ["columns", "record"]
        ),
        *([THREADS] if sys.platform == "linux" else []),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
