/* The records of one batch, looked at one by one before a leader appends it. Twin: src/andiron/records/walk.py.

   A batch whose bytes make no sense is refused as a whole, by what is wrong with it. Of one that does, the answer is
   the latest timestamp, and which records the topic does not take: those without a key where it wants one, and those
   outside its bounds of time. In most batches there is nothing to tell, and the answer is None. */

#include "walk.h"
#include "record.h"

#include <stdlib.h>

#define INT_BYTES_MAX 5 /* of a varint of 32 bits */

/* A number of 32 bits, in no more bytes than it needs at most: Java reads no others. */
static inline int read_int(const uint8_t **at, const uint8_t *stop, int64_t *number) {
    const uint8_t *from = *at;
    return read_varint(at, stop, number) && *at - from <= INT_BYTES_MAX && *number == (int32_t)*number;
}

static inline int skip_blob(const uint8_t **at, const uint8_t *stop, int64_t *length) {
    if (!read_int(at, stop, length) || *length < -1 || *length > stop - *at)
        return 0;
    if (*length > 0)
        *at += *length;
    return 1;
}

static const char *skip_headers(const uint8_t **at, const uint8_t *stop, int64_t count) {
    int64_t length;
    if (count < 0 || count > (stop - *at) / 2)
        return "a number of headers that makes no sense";
    while (count--) {
        if (!skip_blob(at, stop, &length) || length < 0)
            return "a header without a key";
        if (!skip_blob(at, stop, &length))
            return "a header beyond its record";
    }
    return NULL;
}

static int tell(Walk *walk, int64_t index, enum Fault fault) {
    int64_t told = walk->faults++;
    if (told >= walk->told_max)
        return 1;
    if (told == walk->room) {
        int64_t room = walk->room ? 2 * walk->room : 16;
        Faulty *larger = realloc(walk->told, (size_t)room * sizeof *larger);
        if (!larger)
            return 0;
        walk->told = larger;
        walk->room = room;
    }
    walk->told[told].index = (int32_t)index;
    walk->told[told].fault = fault;
    return 1;
}

const char *look_at_all(Walk *walk) {
    const uint8_t *at = walk->at, *end = walk->end;
    if (walk->count < 0 || walk->count > (end - at) / RECORD_BYTES_MIN)
        return "more records than there is room for";
    for (int64_t n = 0; n < walk->count; n++) {
        int64_t length, delta, offset, key, value, headers, timestamp;
        const char *wrong;
        if (!read_int(&at, end, &length) || length < 1 || length > end - at)
            return "a record beyond its batch";
        const uint8_t *stop = at + length;
        at++; /* attributes, which are unused */
        if (!read_varint(&at, stop, &delta) || !read_int(&at, stop, &offset))
            return "a record ends too soon";
        if (offset != n)
            return "offsets that are not one after the other";
        if (!skip_blob(&at, stop, &key) || !skip_blob(&at, stop, &value))
            return "a key or value beyond its record";
        if (!read_int(&at, stop, &headers))
            return "a record ends too soon";
        if (headers && (wrong = skip_headers(&at, stop, headers)))
            return wrong;
        if (at != stop)
            return "a record is longer than what it holds";
        if (__builtin_add_overflow(walk->base_timestamp, delta, &timestamp))
            return "a timestamp of more than 64 bits";
        if (timestamp > walk->max_timestamp)
            walk->max_timestamp = timestamp;
        int untimely = timestamp != NO_TIMESTAMP && (timestamp < walk->earliest || timestamp > walk->latest);
        if (((walk->keyed && key < 0) || untimely) && !tell(walk, n, walk->keyed && key < 0 ? NO_KEY : OUT_OF_TIME))
            return "no memory to tell what is wrong";
    }
    return at == end ? NULL : "the records do not fill their batch";
}

static PyObject *told(const Walk *walk) {
    int64_t count = walk->faults < walk->told_max ? walk->faults : walk->told_max;
    PyObject *list = PyTuple_New((Py_ssize_t)count);
    for (int64_t n = 0; list && n < count; n++) {
        PyObject *each = Py_BuildValue("ii", walk->told[n].index, (int)walk->told[n].fault);
        if (!each)
            Py_CLEAR(list);
        else
            PyTuple_SetItem(list, (Py_ssize_t)n, each);
    }
    return list;
}

/* walk(bytes, start, stop, base timestamp, max timestamp, count, earliest, latest, keyed, told_max): None if all is as
   it should be, and as the header claims; or the latest timestamp, how many records are not taken, and of so many of
   them the index and what is wrong. ValueError if it is no batch. */
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    Walk it = {.max_timestamp = NO_TIMESTAMP};
    Py_buffer bytes;
    int64_t *numbers[] = {&it.base_timestamp, &it.claimed, &it.count, &it.earliest, &it.latest, NULL, &it.told_max};
    if (count != 10) {
        PyErr_SetString(PyExc_TypeError, "walk takes 10 arguments");
        return NULL;
    }
    for (int n = 0; n < 7; n++) {
        if (!numbers[n])
            continue;
        *numbers[n] = PyLong_AsLongLong(arguments[3 + n]);
        if (*numbers[n] == -1 && PyErr_Occurred())
            return NULL;
    }
    it.keyed = PyObject_IsTrue(arguments[8]);
    if (it.keyed < 0 || !borrow_range(arguments, &bytes, &it.at, &it.end))
        return NULL;
    PyThreadState *released = it.end - it.at >= GIL_BYTES ? PyEval_SaveThread() : NULL;
    const char *wrong = look_at_all(&it);
    if (released)
        PyEval_RestoreThread(released);
    PyObject *found = NULL, *faulty = NULL;
    if (wrong)
        PyErr_SetString(PyExc_ValueError, wrong);
    else if (!it.faults && it.max_timestamp == it.claimed)
        found = Py_NewRef(Py_None);
    else if ((faulty = told(&it)))
        found = Py_BuildValue("LLN", (long long)it.max_timestamp, (long long)it.faults, faulty);
    free(it.told);
    PyBuffer_Release(&bytes);
    return found;
}
