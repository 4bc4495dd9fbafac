/* A produce request that repeats the one before it: nothing in it is different but the correlation id and the records.
   Twin: `repeat` in src/andiron/broker/node/shortcut.py.

     key version │ correlation │ client id … acks … topic … partition │ length │ records │ 0 0 0
     ─── head ───                ────────────── prefix ──────────────                     flexible versions alone

   Records of a transaction go another way, and so does everything else. */

#include "records.h"

#define PREFIX_AT 8
#define ATTRIBUTES_AT 22 /* in a batch, the byte of its attributes that matters here */
#define TRANSACTIONAL 0x10
#define NO_TAGS 3 /* zeros: of the partition, the topic and the request */

/* Where the records lie that begin with their length at `at`; 0 if they do not reach to the end of the frame. */
static int find_plain(const uint8_t *at, const uint8_t *end, const uint8_t **from, const uint8_t **stop) {
    if (end - at < 4)
        return 0;
    int32_t length = (int32_t)read32(at);
    *from = at + 4;
    *stop = end;
    return length > 0 && length == end - *from;
}

static int find_flexible(const uint8_t *at, const uint8_t *end, const uint8_t **from, const uint8_t **stop) {
    uint64_t length = 0; /* and one: 0 says null */
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (at == end || shift > 63)
            return 0;
        byte = *at++;
        if (shift < 35)
            length |= (uint64_t)(byte & 0x7f) << shift;
        else if (byte & 0x7f)
            return 0; /* no frame has so many bytes */
    }
    if (length < 2 || end - at < NO_TAGS || length - 1 != (uint64_t)(end - at) - NO_TAGS)
        return 0;
    *from = at;
    *stop = end - NO_TAGS;
    return !(*stop)[0] && !(*stop)[1] && !(*stop)[2];
}

/* repeat(frame, head, prefix, flexible): the correlation id, and from where to where its records lie; or None. */
PyObject *repeat(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    Py_buffer frame;
    char *prefix;
    Py_ssize_t prefix_size;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "repeat takes 4 arguments");
        return NULL;
    }
    unsigned long head = PyLong_AsUnsignedLong(arguments[1]);
    int flexible = PyObject_IsTrue(arguments[3]);
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(arguments[2], &prefix, &prefix_size) != 0)
        return NULL;
    if (PyObject_GetBuffer(arguments[0], &frame, PyBUF_SIMPLE) != 0)
        return NULL;
    const uint8_t *begin = frame.buf, *end = begin + frame.len, *from = NULL, *stop = NULL;
    int repeats = frame.len > PREFIX_AT + prefix_size && read32(begin) == head &&
                  memcmp(begin + PREFIX_AT, prefix, (size_t)prefix_size) == 0 &&
                  (flexible ? find_flexible : find_plain)(begin + PREFIX_AT + prefix_size, end, &from, &stop) &&
                  !(stop - from > ATTRIBUTES_AT && from[ATTRIBUTES_AT] & TRANSACTIONAL);
    int32_t correlation = repeats ? (int32_t)read32(begin + 4) : 0;
    PyBuffer_Release(&frame);
    return repeats ? Py_BuildValue("inn", (int)correlation, from - begin, stop - begin) : Py_NewRef(Py_None);
}
