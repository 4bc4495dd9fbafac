/* andiron.records._native: what a broker does to the bytes of records, for machines with a compiler.

     repeat   a produce request like the one before  twin: src/andiron/broker/node/shortcut.py
     check    a produced batch, if nothing is wrong  twin: src/andiron/records/validate.py
     crc32c   the checksum of a batch                twin: google-crc32c
     walk     what its records are, one by one       twin: src/andiron/records/walk.py
     seek     one of them by its time                twin: src/andiron/records/seek.py

   Those that look at parts are told where by numbers, so that nobody makes a view for them: in small batches that would
   cost more than the looking.

   Read next: check.c, then walk.c. */

#include "records.h"

#include <stdlib.h>

#define EDITION 2 /* one more whenever a signature changes: native.py uses no other than its own */

int borrow_range(PyObject *const *arguments, Py_buffer *bytes, const uint8_t **from, const uint8_t **stop) {
    Py_ssize_t first = PyLong_AsSsize_t(arguments[1]), last = PyLong_AsSsize_t(arguments[2]);
    if ((first == -1 || last == -1) && PyErr_Occurred())
        return 0;
    if (PyObject_GetBuffer(arguments[0], bytes, PyBUF_SIMPLE) != 0)
        return 0;
    if (first < 0 || last < first || last > bytes->len) {
        PyBuffer_Release(bytes);
        PyErr_SetString(PyExc_IndexError, "beyond the bytes that there are");
        return 0;
    }
    *from = (const uint8_t *)bytes->buf + first;
    *stop = (const uint8_t *)bytes->buf + last;
    return 1;
}

static PyMethodDef methods[] = {
    {"repeat", (PyCFunction)(void (*)(void))repeat, METH_FASTCALL, "Where the records lie in a frame that repeats another."},
    {"check", (PyCFunction)(void (*)(void))check, METH_FASTCALL, "The header of a produced batch with which nothing is wrong."},
    {"crc32c", (PyCFunction)(void (*)(void))crc32c, METH_FASTCALL, "The checksum of bytes from start to stop."},
    {"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL, "What the records of a batch are."},
    {"seek", (PyCFunction)(void (*)(void))seek, METH_FASTCALL, "The first record that is late enough."},
    {NULL, NULL, 0, NULL},
};

/* Asked here and not in Python, where the modules that use this one know no environment. */
static int start(PyObject *module) {
    const char *wanted = getenv("ANDIRON_NATIVE");
    if (wanted && strcmp(wanted, "0") == 0) {
        PyErr_SetString(PyExc_ImportError, "ANDIRON_NATIVE=0");
        return -1;
    }
    choose_crc32c();
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
    PyModuleDef_HEAD_INIT, "_native", "Checksums and records of batches.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
