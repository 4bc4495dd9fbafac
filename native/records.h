/* What the parts of andiron.records._native offer; the law of columns.h is theirs too. */

#ifndef ANDIRON_RECORDS_H
#define ANDIRON_RECORDS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

void choose_crc32c(void); /* crc32c.c: once, before the first checksum */
uint32_t checksum(const uint8_t *from, const uint8_t *stop);
PyObject *crc32c(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *check(PyObject *module, PyObject *const *arguments, Py_ssize_t count);  /* check.c */
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count);   /* walk.c */
PyObject *seek(PyObject *module, PyObject *const *arguments, Py_ssize_t count);   /* seek.c */
PyObject *repeat(PyObject *module, PyObject *const *arguments, Py_ssize_t count); /* repeat.c */

/* Borrow the first argument; the next two say from where to where it is meant. */
int borrow_range(PyObject *const *arguments, Py_buffer *bytes, const uint8_t **from, const uint8_t **stop);

/* Numbers as they lie in batches and frames: the highest byte first. */
static inline uint16_t read16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }
static inline uint32_t read32(const uint8_t *at) { return (uint32_t)read16(at) << 16 | read16(at + 2); }
static inline uint64_t read64(const uint8_t *at) { return (uint64_t)read32(at) << 32 | read32(at + 4); }

#endif
