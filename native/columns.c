/* andiron.columns._native: record batches to Arrow's memory and back, for machines with a compiler.

   Each function has a twin in Python that takes and refuses the same (walk.py, pack.py, partition.py) and a
   property test that says so. It speaks Python's limited API and the buffer protocol alone: neither numpy's nor
   Arrow's headers are needed to build it, and one build serves every Python from 3.11 on.

   Read next: columns.h for the law, decode.c for the walk. */

#include "columns.h"

#include <stdlib.h>

#define EDITION 2 /* one more whenever a signature changes: native.py uses no other than its own */

int borrow(PyObject *from, Py_buffer *to) {
    if (from == Py_None) {
        memset(to, 0, sizeof *to);
        return 1;
    }
    return PyObject_GetBuffer(from, to, PyBUF_SIMPLE) == 0;
}

/* Whether the buffers are as long as the column says. */
static int is_whole(const Column *column, enum Kind kind) {
    int64_t most = INT64_MAX / 32; /* far from where the sums below would wrap */
    if (column->first < 0 || column->length < 0 || column->first > most || column->length > most)
        return 0;
    if (column->width != 8 && (column->width != 4 || kind == NUMBERS))
        return 0;
    int64_t rows = column->first + column->length, places = kind == NUMBERS ? rows : rows + 1;
    if (column->length && places * column->width > column->offsets.len)
        return 0;
    if (column->valid.buf && (rows + 7) / 8 > column->valid.len)
        return 0;
    return kind != BLOBS || column->limit <= column->data.len;
}

int borrow_column(PyObject *from, enum Kind kind, Column *to) {
    PyObject *valid, *offsets, *data;
    memset(to, 0, sizeof *to);
    if (from == Py_None)
        return 1;
    if (!PyArg_ParseTuple(from, "OOOiLLL", &valid, &offsets, &data, &to->width, &to->first, &to->length, &to->limit))
        return 0;
    int borrowed = borrow(valid, &to->valid) && borrow(offsets, &to->offsets) && borrow(data, &to->data);
    if (borrowed && is_whole(to, kind)) {
        if (!to->data.buf)
            to->data.buf = ""; /* so that no place in it is a sum with a null pointer */
        to->there = 1;
        return 1;
    }
    give_back_column(to);
    if (borrowed)
        PyErr_SetString(PyExc_ValueError, "a column shorter than it says");
    return 0;
}

void give_back_column(Column *column) {
    PyBuffer_Release(&column->valid);
    PyBuffer_Release(&column->offsets);
    PyBuffer_Release(&column->data);
}

static PyMethodDef methods[] = {
    {"measure", measure, METH_VARARGS, "How much the columns of some batches will hold."},
    {"walk", walk, METH_VARARGS, "Records of batches written as Arrow columns."},
    {"pack", pack, METH_VARARGS, "Arrow columns as the bodies of batches."},
    {"partitions", partitions, METH_VARARGS, "The partition of each key."},
    {NULL, NULL, 0, NULL},
};

/* Asked here and not in Python, where the modules that use this one know no environment. */
static int start(PyObject *module) {
    const char *wanted = getenv("ANDIRON_NATIVE");
    if (wanted && strcmp(wanted, "0") == 0) {
        PyErr_SetString(PyExc_ImportError, "ANDIRON_NATIVE=0");
        return -1;
    }
    return PyModule_AddIntConstant(module, "EDITION", EDITION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, start},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* or an interpreter without its lock would take it back for everybody */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Record batches to Arrow's memory and back.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
