/* Arrow columns as the bodies of record batches. Twin: src/andiron/columns/pack.py.

   A batch is measured first, row by row until no other fits, then made as large as it is and written. Before
   the records there is room for the header, which is written in Python, once a batch. */

#include "columns.h"
#include "record.h"

#define HEADER_SIZE 61
#define RECORD_BYTES_MAX ((INT64_C(1) << 31) - 128)

typedef struct {
    Column key, value, lists, header_key, header_value, micros;
    Py_buffer indices;
    int64_t count; /* of rows to be written */
    int64_t now, batch_bytes;
} Pack;

/* A row on its way: what it is made of, and how long that is behind the deltas. */
typedef struct {
    Span key, value;
    int64_t time, first_header, headers, rest;
} Row;

static inline uint64_t zigzag(int64_t number) { return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63); }

static inline int64_t varint_size(int64_t number) { return (63 - __builtin_clzll(zigzag(number) | 1)) / 7 + 1; }

static inline uint8_t *write_varint(uint8_t *at, int64_t number) {
    uint64_t z = zigzag(number);
    for (; z >= 0x80; z >>= 7)
        *at++ = (uint8_t)(z | 0x80);
    *at++ = (uint8_t)z;
    return at;
}

static inline int64_t blob_size(Span blob) { return varint_size(blob.length) + (blob.length > 0 ? blob.length : 0); }

static inline uint8_t *write_blob(uint8_t *at, Span blob) {
    at = write_varint(at, blob.length);
    if (blob.length > 0) {
        memcpy(at, blob.at, (size_t)blob.length);
        at += blob.length;
    }
    return at;
}

/* Hold each header against its column, and add up what they take. */
static const char *measure_headers(const Pack *pack, int64_t place, Row *row) {
    int64_t begin, end;
    if (is_null(&pack->lists, place))
        return NULL;
    if (!range_of(&pack->lists, place, &begin, &end))
        return "headers that are not there";
    row->first_header = begin;
    row->headers = end - begin;
    for (int64_t n = begin; n < end; n++) {
        Span key, value;
        if (!span_of(&pack->header_key, n, &key) || !span_of(&pack->header_value, n, &value))
            return "a header whose bytes are not there";
        if (key.length < 0)
            return "a header without a key";
        row->rest += blob_size(key) + blob_size(value);
        if (row->rest > RECORD_BYTES_MAX) /* before the sum can wrap */
            return NULL;
    }
    return NULL;
}

static inline int64_t time_of(const Pack *pack, int64_t place) {
    if (!pack->micros.there || is_null(&pack->micros, place))
        return pack->now;
    int64_t micros = load64(pack->micros.offsets.buf, pack->micros.first + place);
    return micros / 1000 - (micros % 1000 < 0); /* the millisecond it lies in, before 1970 too */
}

static inline const char *read_row(const Pack *pack, int64_t n, Row *row) {
    static const Span null = {NULL, -1};
    int64_t place = n;
    if (pack->indices.buf) {
        place = load64(pack->indices.buf, n);
        if (place < 0 || place >= pack->value.length)
            return "a row that is not there";
    }
    row->key = null;
    if (!span_of(&pack->value, place, &row->value) || (pack->key.there && !span_of(&pack->key, place, &row->key)))
        return "offsets that make no sense";
    row->time = time_of(pack, place);
    row->rest = blob_size(row->key) + blob_size(row->value);
    row->first_header = row->headers = 0;
    if (pack->lists.there) {
        const char *wrong = measure_headers(pack, place, row);
        if (wrong)
            return wrong;
    }
    row->rest += varint_size(row->headers);
    return NULL;
}

static inline int64_t length_of(const Row *row, int64_t base_time, int64_t delta) {
    return 1 + varint_size((int64_t)((uint64_t)row->time - (uint64_t)base_time)) + varint_size(delta) + row->rest;
}

/* How many rows from `first` on make a batch, and its size; 0 rows if one of them is wrong. */
static int64_t measure_batch(const Pack *pack, int64_t first, int64_t *size, const char **wrong, int *too_large) {
    int64_t n = first, base_time = 0;
    *size = HEADER_SIZE;
    for (; n < pack->count; n++) {
        Row row;
        if ((*wrong = read_row(pack, n, &row)))
            return 0;
        if (row.rest > RECORD_BYTES_MAX) {
            *too_large = 1;
            return 0;
        }
        if (n == first)
            base_time = row.time;
        int64_t length = length_of(&row, base_time, n - first);
        length += varint_size(length);
        if (n > first && *size + length > pack->batch_bytes)
            break;
        *size += length;
    }
    return n - first;
}

static uint8_t *write_row(const Pack *pack, const Row *row, int64_t base_time, int64_t delta, uint8_t *at) {
    at = write_varint(at, length_of(row, base_time, delta));
    *at++ = 0;
    at = write_varint(at, (int64_t)((uint64_t)row->time - (uint64_t)base_time));
    at = write_varint(at, delta);
    at = write_blob(at, row->key);
    at = write_blob(at, row->value);
    at = write_varint(at, row->headers);
    for (int64_t n = row->first_header; n < row->first_header + row->headers; n++) {
        Span key = {NULL, 0}, value = {NULL, 0};
        span_of(&pack->header_key, n, &key);
        span_of(&pack->header_value, n, &value);
        at = write_blob(at, key);
        at = write_blob(at, value);
    }
    return at;
}

/* Write `count` rows from `first` on into the `size` bytes measured for them. */
static const char *write_rows(const Pack *pack, int64_t first, int64_t count, uint8_t *at, int64_t size, int64_t *base_time, int64_t *max_time) {
    const uint8_t *end = at + size;
    *max_time = -1;
    at += HEADER_SIZE;
    for (int64_t n = 0; n < count; n++) {
        Row row;
        const char *wrong = read_row(pack, first + n, &row);
        if (wrong)
            return wrong;
        if (n == 0)
            *base_time = row.time;
        int64_t length = length_of(&row, *base_time, n);
        if (row.rest > RECORD_BYTES_MAX || length + varint_size(length) > end - at)
            return "columns that change while they are read";
        at = write_row(pack, &row, *base_time, n, at);
        if (row.time > *max_time)
            *max_time = row.time;
    }
    return at == end ? NULL : "columns that change while they are read";
}

static PyObject *one_batch(const Pack *pack, int64_t first, int64_t *count) {
    const char *wrong = NULL;
    int too_large = 0;
    int64_t size, base_time = 0, max_time = -1;
    *count = measure_batch(pack, first, &size, &wrong, &too_large);
    if (too_large) {
        PyErr_SetString(PyExc_OverflowError, "a record of more than 2 GiB");
        return NULL;
    }
    PyObject *data = wrong ? NULL : PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (data) {
        uint8_t *at = (uint8_t *)PyByteArray_AsString(data);
        PyThreadState *released = size >= GIL_BYTES ? PyEval_SaveThread() : NULL;
        wrong = write_rows(pack, first, *count, at, size, &base_time, &max_time);
        if (released)
            PyEval_RestoreThread(released);
    }
    if (wrong) {
        Py_XDECREF(data);
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    return data ? Py_BuildValue("NLLL", data, *count, base_time, max_time) : NULL;
}

static PyObject *packed(const Pack *pack) {
    PyObject *batches = PyList_New(0);
    int64_t count;
    for (int64_t first = 0; batches && first < pack->count; first += count) {
        PyObject *batch = one_batch(pack, first, &count);
        if (!batch || PyList_Append(batches, batch))
            Py_CLEAR(batches);
        Py_XDECREF(batch);
    }
    return batches;
}

/* Whether every column has as many rows as there are values, and lists reach no further than their headers. */
static int agree(const Pack *pack) {
    int64_t rows = pack->value.length;
    int sound = pack->value.there && pack->indices.len % 8 == 0;
    sound = sound && (!pack->key.there || pack->key.length == rows);
    sound = sound && (!pack->micros.there || pack->micros.length == rows);
    if (pack->lists.there)
        sound = sound && pack->lists.length == rows && pack->lists.limit <= pack->header_key.length &&
                pack->lists.limit <= pack->header_value.length;
    if (!sound)
        PyErr_SetString(PyExc_ValueError, "columns that do not belong together");
    return sound;
}

/* pack(key, value, lists, header_key, header_value, micros, indices, now, batch_bytes): a list of (bytearray, count,
   base timestamp, max timestamp). */
PyObject *pack(PyObject *module, PyObject *arguments) {
    (void)module;
    enum { COLUMNS = 6 };
    PyObject *from[COLUMNS], *indices, *made = NULL;
    Pack it;
    memset(&it, 0, sizeof it);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOLL", &from[0], &from[1], &from[2], &from[3], &from[4], &from[5], &indices,
                          &it.now, &it.batch_bytes))
        return NULL;
    Column *columns[COLUMNS] = {&it.key, &it.value, &it.lists, &it.header_key, &it.header_value, &it.micros};
    static const enum Kind kinds[COLUMNS] = {BLOBS, BLOBS, LISTS, BLOBS, BLOBS, NUMBERS};
    int borrowed = borrow(indices, &it.indices);
    for (int n = 0; n < COLUMNS && borrowed; n++)
        borrowed = borrow_column(from[n], kinds[n], columns[n]);
    if (borrowed && agree(&it)) {
        it.count = indices == Py_None ? it.value.length : it.indices.len / 8;
        made = packed(&it);
    }
    for (int n = 0; n < COLUMNS; n++)
        give_back_column(columns[n]);
    PyBuffer_Release(&it.indices);
    return made;
}
