/* The partition of each key of a column. Twin: src/andiron/columns/partition.py. */

#include "columns.h"

#define SEED 0x9747b28cu
#define M 0x5bd1e995u

static uint32_t little_endian(const uint8_t *at, int64_t size) {
    uint32_t word = 0;
    for (int64_t n = 0; n < size; n++)
        word |= (uint32_t)at[n] << (8 * n);
    return word;
}

static uint32_t murmur2(const uint8_t *at, int64_t length) {
    uint32_t h = SEED ^ (uint32_t)length;
    for (; length >= 4; at += 4, length -= 4) {
        uint32_t k = little_endian(at, 4) * M;
        h = (h * M) ^ ((k ^ (k >> 24)) * M);
    }
    if (length)
        h = (h ^ little_endian(at, length)) * M;
    h = (h ^ (h >> 13)) * M;
    return h ^ (h >> 15);
}

static int fill(const Column *keys, uint32_t count, int32_t *into) {
    for (int64_t row = 0; row < keys->length; row++) {
        Span key;
        if (!span_of(keys, row, &key))
            return 0;
        into[row] = key.length < 0 ? -1 : (int32_t)((murmur2(key.at, key.length) & 0x7fffffffu) % count);
    }
    return 1;
}

/* partitions(keys, count): a bytearray of 32-bit numbers, -1 for a null. */
PyObject *partitions(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *column, *found = NULL;
    Column keys;
    int count;
    memset(&keys, 0, sizeof keys);
    if (!PyArg_ParseTuple(arguments, "Oi", &column, &count) || !borrow_column(column, BLOBS, &keys))
        return NULL;
    if (count < 1)
        PyErr_SetString(PyExc_ValueError, "no partitions");
    else
        found = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(4 * keys.length));
    if (found) {
        int32_t *into = (int32_t *)(void *)PyByteArray_AsString(found);
        int sound;
        Py_BEGIN_ALLOW_THREADS
        sound = fill(&keys, (uint32_t)count, into);
        Py_END_ALLOW_THREADS
        if (!sound) {
            Py_CLEAR(found);
            PyErr_SetString(PyExc_ValueError, "offsets that make no sense");
        }
    }
    give_back_column(&keys);
    return found;
}
