/* What the parts of andiron.records._native offer; the law of columns.h is theirs too. */

#ifndef ANDIRON_RECORDS_H
#define ANDIRON_RECORDS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

void choose_crc32c(void); /* crc32c.c: once, before the first checksum */
PyObject *crc32c(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count); /* walk.c */
PyObject *seek(PyObject *module, PyObject *const *arguments, Py_ssize_t count); /* seek.c */

/* Borrow the first argument; the next two say from where to where it is meant. */
int borrow_range(PyObject *const *arguments, Py_buffer *bytes, const uint8_t **from, const uint8_t **stop);

#endif
