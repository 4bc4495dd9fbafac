/* What a leader looks at before it takes a produced batch, in one call: the header, the checksum, and the records where
   they are not packed. Twin: check_produced and check_records of src/andiron/records/validate.py.

   Only the twin knows what is wrong with a batch, and in which words its producer is told. Here a batch is as it should
   be in everything, and its header is the answer; or the answer is None: look closer there. */

#include "walk.h"
#include "record.h"

#define HEADER_SIZE 61
#define LOG_OVERHEAD 12 /* base offset and length, which the length does not count */
#define CHECKED_AT 21   /* the checksum covers from here to the end */
#define MAGIC 2

#define CODEC_MASK 0x07
#define ZSTD 4
#define APPEND_TIME 0x08
#define CONTROL 0x20

typedef struct {
    int64_t base_offset;
    int32_t length, leader_epoch;
    int8_t magic;
    uint32_t crc;
    int16_t attributes;
    int32_t last_offset_delta;
    int64_t base_timestamp, max_timestamp, producer_id;
    int16_t producer_epoch;
    int32_t base_sequence, count;
} Header;

/* What the topic takes, in the order of ProduceLimits in validate.py, and what the request may carry. */
typedef struct {
    int64_t max_message_bytes, append_time, before_max_ms, after_max_ms, keyed;
    int64_t now, zstd;
} Limits;

static void read_header(const uint8_t *at, Header *header) {
    header->base_offset = (int64_t)read64(at);
    header->length = (int32_t)read32(at + 8);
    header->leader_epoch = (int32_t)read32(at + 12);
    header->magic = (int8_t)at[16];
    header->crc = read32(at + 17);
    header->attributes = (int16_t)read16(at + 21);
    header->last_offset_delta = (int32_t)read32(at + 23);
    header->base_timestamp = (int64_t)read64(at + 27);
    header->max_timestamp = (int64_t)read64(at + 35);
    header->producer_id = (int64_t)read64(at + 43);
    header->producer_epoch = (int16_t)read16(at + 51);
    header->base_sequence = (int32_t)read32(at + 53);
    header->count = (int32_t)read32(at + 57);
}

static int is_sound(const Header *header, int64_t size, const Limits *limits) {
    int codec = header->attributes & CODEC_MASK;
    return header->magic == MAGIC && header->length == size - LOG_OVERHEAD && size <= limits->max_message_bytes &&
           header->base_offset == 0 && codec <= ZSTD && (codec < ZSTD || limits->zstd) &&
           !(header->attributes & (APPEND_TIME | CONTROL)) && header->count > 0 &&
           header->last_offset_delta == header->count - 1 &&
           (header->producer_id < 0 || (header->base_sequence >= 0 && header->producer_epoch >= -1));
}

static int are_taken(const Header *header, const uint8_t *at, const uint8_t *end, const Limits *limits) {
    Walk walk = {
        .at = at, .end = end, .base_timestamp = header->base_timestamp, .count = header->count,
        .earliest = INT64_MIN, .latest = INT64_MAX, .keyed = limits->keyed != 0, .max_timestamp = NO_TIMESTAMP,
    };
    if (!limits->append_time) {
        if (__builtin_sub_overflow(limits->now, limits->before_max_ms, &walk.earliest))
            return 0;
        if (__builtin_add_overflow(limits->now, limits->after_max_ms, &walk.latest))
            walk.latest = INT64_MAX;
    }
    return !look_at_all(&walk) && !walk.faults && walk.max_timestamp == header->max_timestamp;
}

static int is_as_it_should_be(const uint8_t *from, const uint8_t *stop, Header *header, const Limits *limits) {
    if (stop - from < HEADER_SIZE)
        return 0;
    read_header(from, header);
    if (!is_sound(header, stop - from, limits) || checksum(from + CHECKED_AT, stop) != header->crc)
        return 0;
    return header->attributes & CODEC_MASK || are_taken(header, from + HEADER_SIZE, stop, limits);
}

static PyObject *fields_of(const Header *header) {
    const int64_t numbers[] = {
        header->base_offset, header->length, header->leader_epoch, header->magic, header->crc, header->attributes,
        header->last_offset_delta, header->base_timestamp, header->max_timestamp, header->producer_id,
        header->producer_epoch, header->base_sequence, header->count,
    };
    const Py_ssize_t count = sizeof numbers / sizeof *numbers;
    PyObject *fields = PyTuple_New(count);
    for (Py_ssize_t n = 0; fields && n < count; n++) {
        PyObject *number = PyLong_FromLongLong(numbers[n]);
        if (!number)
            Py_CLEAR(fields);
        else
            PyTuple_SetItem(fields, n, number);
    }
    return fields;
}

static int read_limits(PyObject *const *arguments, Limits *limits) {
    int64_t *numbers[] = {
        &limits->max_message_bytes, &limits->append_time, &limits->before_max_ms, &limits->after_max_ms, &limits->keyed,
    };
    for (Py_ssize_t n = 0; n < 5; n++) {
        PyObject *number = PyTuple_GetItem(arguments[1], n);
        *numbers[n] = number ? PyLong_AsLongLong(number) : -1;
        if (*numbers[n] == -1 && PyErr_Occurred())
            return 0;
    }
    limits->now = PyLong_AsLongLong(arguments[2]);
    limits->zstd = PyLong_AsLongLong(arguments[3]);
    return !PyErr_Occurred();
}

/* check(records, limits, now, zstd): the fields of the header, in its order, of the one batch that the records are if it
   is taken as it is; of one that is packed, if nothing but what is in it remains to be looked at. None: look closer. */
PyObject *check(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    Py_buffer bytes;
    Header header;
    Limits limits;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "check takes 4 arguments");
        return NULL;
    }
    if (Py_IsNone(arguments[0]))
        return Py_NewRef(Py_None);
    if (!read_limits(arguments, &limits) || PyObject_GetBuffer(arguments[0], &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    const uint8_t *from = bytes.buf;
    PyThreadState *released = bytes.len >= GIL_BYTES ? PyEval_SaveThread() : NULL;
    int fine = is_as_it_should_be(from, from + bytes.len, &header, &limits);
    if (released)
        PyEval_RestoreThread(released);
    PyBuffer_Release(&bytes);
    return fine ? fields_of(&header) : Py_NewRef(Py_None);
}
