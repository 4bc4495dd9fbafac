/* What the parts of andiron.columns._native share: numbers, borrowed memory, and the law they are under.

   Everything here reads bytes that anyone may have sent. The law: a byte is read only after its place was
   compared with the end of what it belongs to, lengths are compared before they are added, and a number read
   once is kept in a local and not read again, so that memory that changes meanwhile can make answers wrong but
   never reads stray. No part keeps state between calls, so that none needs the interpreter's lock. */

#ifndef ANDIRON_COLUMNS_H
#define ANDIRON_COLUMNS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

static inline int64_t load64(const void *from, int64_t n) {
    int64_t value;
    memcpy(&value, (const char *)from + 8 * n, sizeof value); /* whatever its alignment */
    return value;
}

static inline int32_t load32(const void *from, int64_t n) {
    int32_t value;
    memcpy(&value, (const char *)from + 4 * n, sizeof value);
    return value;
}

static inline int is_set(const uint8_t *bits, int64_t n) { return bits[n >> 3] >> (n & 7) & 1; }

/* An Arrow column: `length` rows from the place `first` on. Of blobs or lists the offsets are 4 or 8 bytes wide and
   reach no further than `limit`, into the bytes or the rows of another column; of numbers they are the numbers. */
enum Kind { NUMBERS, LISTS, BLOBS };

typedef struct {
    Py_buffer valid, offsets, data;
    int width, there;
    int64_t first, length, limit;
} Column;

typedef struct {
    const uint8_t *at;
    int64_t length; /* -1 for a null */
} Span;

int borrow(PyObject *from, Py_buffer *to); /* None is no bytes */
int borrow_column(PyObject *from, enum Kind kind, Column *to); /* None is a column that is not there */
void give_back_column(Column *column);

static inline int is_null(const Column *column, int64_t row) {
    return column->valid.buf && !is_set(column->valid.buf, column->first + row);
}

/* From where to where the offsets of a row go; 0 if they make no sense. */
static inline int range_of(const Column *column, int64_t row, int64_t *begin, int64_t *end) {
    int64_t place = column->first + row;
    if (column->width == 8) {
        *begin = load64(column->offsets.buf, place);
        *end = load64(column->offsets.buf, place + 1);
    } else {
        *begin = load32(column->offsets.buf, place);
        *end = load32(column->offsets.buf, place + 1);
    }
    return *begin >= 0 && *end >= *begin && *end <= column->limit;
}

static inline int span_of(const Column *column, int64_t row, Span *span) {
    int64_t begin, end;
    span->at = NULL;
    span->length = -1;
    if (is_null(column, row))
        return 1;
    if (!range_of(column, row, &begin, &end))
        return 0;
    span->at = (const uint8_t *)column->data.buf + begin;
    span->length = end - begin;
    return 1;
}

PyObject *measure(PyObject *module, PyObject *arguments);    /* decode.c */
PyObject *walk(PyObject *module, PyObject *arguments);
PyObject *pack(PyObject *module, PyObject *arguments);       /* encode.c */
PyObject *partitions(PyObject *module, PyObject *arguments); /* murmur2.c */

#endif
