"""The one part that is compiled: native/, for records and for columns. Where there is no compiler, Python does its work.

Both extensions speak Python's limited API, so that one wheel serves every Python from 3.11 on; builds without
the interpreter lock have no such API yet and get a wheel of their own.
"""

import sysconfig

from setuptools import Extension, setup

LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


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


setup(
    ext_modules=[
        compiled("andiron.records._native", ["records", "crc32c", "walk", "seek"], ["records", "record"]),
        compiled("andiron.columns._native", ["columns", "decode", "encode", "murmur2"], ["columns", "record"]),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
