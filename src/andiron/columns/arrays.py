"""Arrow arrays from numbers of numpy's and from a text, by their memory.

`pa.array` and `pa.scalar` first ask whether they were given something of pandas, and import all of it for that
question: a quarter of a second, in each of the dozen Python workers that Spark starts for a query. What is known to be
numpy's or Python's goes around that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def numbers(values: npt.NDArray[Any], type: pa.DataType | None = None) -> pa.Array:
    """An array that shares the memory of `values`, or of a copy where they do not lie one after the other."""
    values = np.ascontiguousarray(values)
    wanted = type or pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(wanted, len(values), [None, pa.py_buffer(values)])


def repeated(text: str, rows: int) -> pa.Array:
    """The same text in every row."""
    data = text.encode()
    offsets = np.arange(rows + 1, dtype=np.int32) * len(data)
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data * rows)])


def empty_blob() -> pa.Scalar:
    """No bytes, as a value."""
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, pa.py_buffer(bytes(16)), pa.py_buffer(b"")])[0]
