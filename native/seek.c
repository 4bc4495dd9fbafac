/* A record by its time: the first of a batch that is as late as asked for, or else the latest there is. Twin:
   src/andiron/records/seek.py. Keys, values and headers are passed over by the length of their record. */

#include "records.h"
#include "record.h"

typedef struct {
    const uint8_t *at, *end;
    int64_t base_timestamp, count, first, wanted; /* offsets below `first` do not count */
    int found;
    int64_t offset, timestamp;
} Seek;

static const char *look(Seek *seek) {
    const uint8_t *at = seek->at, *end = seek->end;
    for (int64_t n = 0; n < seek->count; n++) {
        int64_t length, delta, offset, timestamp;
        if (!read_varint(&at, end, &length) || length < 1 || length > end - at)
            return "a record beyond its batch";
        const uint8_t *stop = at + length;
        at++; /* attributes, which are unused */
        if (!read_varint(&at, stop, &delta) || !read_varint(&at, stop, &offset))
            return "a record ends too soon";
        if (__builtin_add_overflow(seek->base_timestamp, delta, &timestamp))
            return "a timestamp of more than 64 bits";
        at = stop;
        if (offset < seek->first || (seek->found && timestamp <= seek->timestamp))
            continue;
        seek->found = 1;
        seek->offset = offset;
        seek->timestamp = timestamp;
        if (timestamp >= seek->wanted)
            return NULL;
    }
    return NULL;
}

/* seek(bytes, start, stop, base timestamp, count, first, wanted): an offset, counted from the batch's own as `first` is,
   and its timestamp; or None where no record has an offset from `first` on. ValueError if it is no batch. */
PyObject *seek(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    Seek it = {.found = 0};
    Py_buffer bytes;
    int64_t *numbers[] = {&it.base_timestamp, &it.count, &it.first, &it.wanted};
    if (count != 7) {
        PyErr_SetString(PyExc_TypeError, "seek takes 7 arguments");
        return NULL;
    }
    for (int n = 0; n < 4; n++) {
        *numbers[n] = PyLong_AsLongLong(arguments[3 + n]);
        if (*numbers[n] == -1 && PyErr_Occurred())
            return NULL;
    }
    if (!borrow_range(arguments, &bytes, &it.at, &it.end))
        return NULL;
    PyThreadState *released = it.end - it.at >= GIL_BYTES ? PyEval_SaveThread() : NULL;
    const char *wrong = look(&it);
    if (released)
        PyEval_RestoreThread(released);
    PyBuffer_Release(&bytes);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    return it.found ? Py_BuildValue("LL", (long long)it.offset, (long long)it.timestamp) : Py_NewRef(Py_None);
}
