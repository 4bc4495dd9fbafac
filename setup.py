"""The one part that is compiled: native/, for columns. Where there is no compiler, numpy does its work.

The extension speaks Python's limited API, so that one wheel serves every Python from 3.11 on; builds without
the interpreter lock have no such API yet and get a wheel of their own.
"""

import sysconfig

from setuptools import Extension, setup

LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[
        Extension(
            "andiron.columns._native",
            [f"native/{part}.c" for part in ("columns", "decode", "encode", "murmur2")],
            depends=["native/columns.h"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED else [],
            extra_compile_args=["-O3", "-Wall", "-Wextra"],
            py_limited_api=LIMITED,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
