/* andiron.edge._native: the node's end of the channel between it and its network threads (Kafka's RequestChannel).

     take()             all frames and notices of all threads since the last call
     put(seat, parts)   a reply, copied; slices of files get a descriptor of their own
     flush()            lets the threads hear what was said: a lock and at most one wake-up for each

   All of it is called by the node's thread, with the interpreter's lock, and none of it waits. A connection that threads
   serve has a seat, a small number that is given to another only when the thread has confirmed that it is done with it, and
   the node has heard that.

   Read next: processor.h for the laws, edge/request_channel.py for who calls. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "processor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EDITION 1 /* one more whenever a signature changes: native.py uses no other than its own */
#define THREADS 64

typedef struct {
    PyObject_HEAD
    Bell bell;
    size_t sendfile_min;
    int count; /* threads */
    Processor *processors[THREADS];
    Connection **seats;
    int room, free_count, *free_seats;
    Delivery delivery;
} Channel;

/* ── chunks ────────────────────────────────────────────────────────────────────────── */

typedef struct {
    PyObject_HEAD
    Chunk *chunk;
} Exporter;

static PyTypeObject *exporter_type;

static int exporter_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    Chunk *chunk = ((Exporter *)self)->chunk;
    return PyBuffer_FillInfo(view, self, chunk->bytes, (Py_ssize_t)chunk->used, 0, flags);
}

static void exporter_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(((Exporter *)self)->chunk);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot exporter_slots[] = {
    {Py_tp_dealloc, exporter_dealloc},
    {Py_bf_getbuffer, exporter_getbuffer},
    {0, NULL},
};

static PyType_Spec exporter_spec = {
    "andiron.edge._native.Chunk", sizeof(Exporter), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    exporter_slots,
};

/* A view of all of a chunk, which is its owner's from now on. */
static PyObject *view_of(Chunk *chunk) {
    Exporter *made = PyObject_New(Exporter, exporter_type);
    if (!made) {
        free(chunk);
        return NULL;
    }
    made->chunk = chunk;
    PyObject *view = PyMemoryView_FromObject((PyObject *)made);
    Py_DECREF(made);
    return view;
}

static PyObject *slice_of(PyObject *view, size_t start, size_t stop) {
    PyObject *first = PyLong_FromSize_t(start), *last = PyLong_FromSize_t(stop), *slice = NULL, *found = NULL;
    if (first && last)
        slice = PySlice_New(first, last, NULL);
    if (slice)
        found = PyObject_GetItem(view, slice);
    Py_XDECREF(first);
    Py_XDECREF(last);
    Py_XDECREF(slice);
    return found;
}

/* ── seats ─────────────────────────────────────────────────────────────────────────── */

static Connection *seated(Channel *channel, PyObject *number) {
    long seat = PyLong_AsLong(number);
    if (seat == -1 && PyErr_Occurred())
        return NULL;
    if (seat < 0 || seat >= channel->room || !channel->seats[seat]) {
        PyErr_SetString(PyExc_IndexError, "nobody has this seat");
        return NULL;
    }
    return channel->seats[seat];
}

static int make_seats(Channel *channel) {
    int room = channel->room ? channel->room * 2 : 256;
    Connection **seats = realloc(channel->seats, (size_t)room * sizeof *seats);
    if (seats)
        channel->seats = seats;
    int *free_seats = realloc(channel->free_seats, (size_t)room * sizeof *free_seats);
    if (free_seats)
        channel->free_seats = free_seats;
    if (!seats || !free_seats)
        return 0;
    for (int seat = room - 1; seat >= channel->room; seat--) {
        seats[seat] = NULL;
        free_seats[channel->free_count++] = seat;
    }
    channel->room = room;
    return 1;
}

/* ── what Python calls ─────────────────────────────────────────────────────────────── */

static PyObject *channel_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    Py_ssize_t sendfile_min;
    if (named && PyDict_Size(named)) {
        PyErr_SetString(PyExc_TypeError, "no names here");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "n", &sendfile_min))
        return NULL;
    Channel *made = (Channel *)PyType_GenericAlloc(type, 0);
    if (!made)
        return NULL;
    made->sendfile_min = (size_t)sendfile_min;
    if (!bell_make(&made->bell)) {
        Py_DECREF(made);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return (PyObject *)made;
}

static PyObject *channel_fileno(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return PyLong_FromLong(((Channel *)self)->bell.fd);
}

/* Have so many threads, or more; how many there are. */
static PyObject *channel_start(PyObject *self, PyObject *argument) {
    Channel *channel = (Channel *)self;
    long wanted = PyLong_AsLong(argument);
    if (wanted == -1 && PyErr_Occurred())
        return NULL;
    while (channel->count < wanted && channel->count < THREADS) {
        Processor *started = processor_start(&channel->bell);
        if (!started)
            return PyErr_SetFromErrno(PyExc_OSError);
        channel->processors[channel->count++] = started;
    }
    return PyLong_FromLong(channel->count);
}

/* adopt(thread, fd, frame_bytes_max, granted, received): the seat. */
static PyObject *channel_adopt(PyObject *self, PyObject *arguments) {
    Channel *channel = (Channel *)self;
    int thread, fd;
    Py_ssize_t frame_bytes_max, granted, length;
    const char *received;
    if (!PyArg_ParseTuple(arguments, "iinny#", &thread, &fd, &frame_bytes_max, &granted, &received, &length))
        return NULL;
    if (thread < 0 || thread >= channel->count) {
        PyErr_SetString(PyExc_IndexError, "no such thread");
        return NULL;
    }
    Chunk *chunk = length ? malloc(sizeof *chunk + (size_t)length) : NULL;
    if ((length && !chunk) || (!channel->free_count && !make_seats(channel))) {
        free(chunk);
        return PyErr_NoMemory();
    }
    int seat = channel->free_seats[channel->free_count - 1];
    Connection *made = connection_make(channel->processors[thread], seat, fd, (size_t)frame_bytes_max);
    if (!made) {
        free(chunk);
        return PyErr_NoMemory();
    }
    if (chunk) {
        chunk->capacity = chunk->used = (size_t)length;
        chunk->exporter = NULL;
        memcpy(chunk->bytes, received, (size_t)length);
    }
    made->large = chunk;
    made->granted = (size_t)granted;
    channel->free_count--;
    channel->seats[seat] = made;
    tell(made->processor, (Command){.word = ADOPT, .connection = made});
    return PyLong_FromLong(seat);
}

/* A run of bytes that is being put together. */
typedef struct {
    Item *first, *last;
} Output;

static void output_add(Output *output, Item *item) {
    if (output->last)
        output->last->next = item;
    else
        output->first = item;
    output->last = item;
}

static int add_slice(Output *output, PyObject *part, size_t sendfile_min) {
    int file;
    Py_ssize_t position, length;
    if (!PyArg_ParseTuple(part, "inn", &file, &position, &length))
        return 0;
    Item *item = item_make(0);
    if (!item) {
        PyErr_NoMemory();
        return 0;
    }
    item->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    item->position = position;
    item->left = (size_t)length;
    item->by_sendfile = item->left >= sendfile_min;
    output_add(output, item);
    if (item->file < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return 0;
    }
    return 1;
}

static int add_bytes(Output *output, PyObject *part) {
    Py_buffer bytes;
    if (PyObject_GetBuffer(part, &bytes, PyBUF_SIMPLE) != 0)
        return 0;
    Item *item = item_make((size_t)bytes.len);
    if (item) {
        memcpy(item->bytes, bytes.buf, (size_t)bytes.len);
        output_add(output, item);
    } else
        PyErr_NoMemory();
    PyBuffer_Release(&bytes);
    return item != NULL;
}

/* Whom (seat, list of parts) is for. */
static Connection *addressee(Channel *channel, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyList_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a seat and a list of parts");
        return NULL;
    }
    return seated(channel, arguments[0]);
}

/* put(seat, parts): bytes, and (file, position, length) for slices. Nothing of it is sent if it raises. */
static PyObject *channel_put(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    Channel *channel = (Channel *)self;
    Connection *to = addressee(channel, arguments, count);
    if (!to)
        return NULL;
    Output output = {NULL, NULL};
    Py_ssize_t parts = PyList_Size(arguments[1]);
    for (Py_ssize_t i = 0; i < parts; i++) {
        PyObject *part = PyList_GetItem(arguments[1], i);
        if (!(PyTuple_Check(part) ? add_slice(&output, part, channel->sendfile_min) : add_bytes(&output, part))) {
            items_free(output.first);
            return NULL;
        }
    }
    if (output.first && !to->release_said && !to->close_said)
        tell(to->processor, (Command){SEND, to, output.first, output.last, 0});
    else
        items_free(output.first);
    Py_RETURN_NONE;
}

/* put_reply(seat, parts): bytes alone, with their size before them, in one item; how many bytes that is. */
static PyObject *channel_put_reply(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    Connection *to = addressee((Channel *)self, arguments, count);
    if (!to)
        return NULL;
    Py_ssize_t parts = PyList_Size(arguments[1]), size = 0;
    for (Py_ssize_t i = 0; i < parts; i++) {
        Py_ssize_t length = PyObject_Size(PyList_GetItem(arguments[1], i));
        if (length < 0)
            return NULL;
        size += length;
    }
    Item *item = item_make(4 + (size_t)size);
    if (!item)
        return PyErr_NoMemory();
    for (int i = 0; i < 4; i++)
        item->bytes[i] = (uint8_t)((uint64_t)size >> (24 - 8 * i));
    Py_ssize_t filled = 0;
    for (Py_ssize_t i = 0; i < parts; i++) {
        Py_buffer bytes;
        if (PyObject_GetBuffer(PyList_GetItem(arguments[1], i), &bytes, PyBUF_SIMPLE) != 0) {
            items_free(item);
            return NULL;
        }
        Py_ssize_t length = bytes.len;
        if (length <= size - filled)
            memcpy(item->bytes + 4 + filled, bytes.buf, (size_t)length);
        PyBuffer_Release(&bytes);
        filled += length;
        if (filled > size)
            break;
    }
    if (filled != size) { /* a length that is not in bytes */
        items_free(item);
        PyErr_SetString(PyExc_TypeError, "parts of a reply are bytes");
        return NULL;
    }
    if (to->release_said || to->close_said)
        items_free(item);
    else
        tell(to->processor, (Command){SEND, to, item, item, 0});
    return PyLong_FromSsize_t(4 + size);
}

/* say(seat, word, value): MUTE, UNMUTE, GRANT, LEAVE_ROOM, TELL_SENT, RELEASE, CLOSE. */
static PyObject *channel_say(PyObject *self, PyObject *arguments) {
    PyObject *seat;
    int word;
    Py_ssize_t value = 0;
    if (!PyArg_ParseTuple(arguments, "Oi|n", &seat, &word, &value))
        return NULL;
    Connection *to = seated((Channel *)self, seat);
    if (!to)
        return NULL;
    if (word < MUTE || word > CLOSE || word == GO_ON) {
        PyErr_SetString(PyExc_ValueError, "no such word");
        return NULL;
    }
    if (to->close_said || (to->release_said && word != CLOSE))
        Py_RETURN_NONE;
    to->release_said |= word == RELEASE;
    to->close_said |= word == CLOSE;
    tell(to->processor, (Command){.word = (enum Word)word, .connection = to, .value = (uint64_t)value});
    Py_RETURN_NONE;
}

/* taken(seat, bytes): how many of the bytes handed over are done with, in all. */
static PyObject *channel_taken(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a seat and bytes");
        return NULL;
    }
    Connection *of = seated((Channel *)self, arguments[0]);
    uint64_t bytes = of ? PyLong_AsUnsignedLongLong(arguments[1]) : 0;
    if (!of || PyErr_Occurred())
        return NULL;
    atomic_store(&of->taken, bytes);
    if (atomic_exchange(&of->waits_for_taking, 0) && !of->release_said && !of->close_said)
        tell(of->processor, (Command){.word = GO_ON, .connection = of});
    Py_RETURN_NONE;
}

/* vacate(seat): after CLOSED or RELEASED; it is free for another. */
static PyObject *channel_vacate(PyObject *self, PyObject *seat) {
    Channel *channel = (Channel *)self;
    Connection *connection = seated(channel, seat);
    if (!connection)
        return NULL;
    channel->seats[connection->seat] = NULL;
    channel->free_seats[channel->free_count++] = connection->seat;
    connection_free(connection);
    Py_RETURN_NONE;
}

static PyObject *channel_sent(PyObject *self, PyObject *seat) {
    Connection *of = seated((Channel *)self, seat);
    return of ? PyLong_FromUnsignedLongLong(atomic_load_explicit(&of->sent, memory_order_relaxed)) : NULL;
}

static PyObject *channel_received(PyObject *self, PyObject *seat) {
    Connection *of = seated((Channel *)self, seat);
    return of ? PyLong_FromUnsignedLongLong(atomic_load_explicit(&of->received, memory_order_relaxed)) : NULL;
}

static PyObject *channel_flush(PyObject *self, PyObject *nothing) {
    Channel *channel = (Channel *)self;
    (void)nothing;
    for (int i = 0; i < channel->count; i++)
        flush_commands(channel->processors[i]);
    Py_RETURN_NONE;
}

static int append(PyObject *list, PyObject *item) {
    int failed = !item || PyList_Append(list, item) != 0;
    Py_XDECREF(item);
    return !failed;
}

static int append_frames(PyObject *list, const Delivery *delivery) {
    Frame *frames = delivery->frames.items;
    for (size_t i = 0; i < delivery->frames.count; i++) {
        PyObject *view = frames[i].chunk->exporter;
        if (!append(list, PyLong_FromLong(frames[i].connection->seat)) ||
            !append(list, slice_of(view, frames[i].offset, frames[i].offset + frames[i].length)))
            return 0;
    }
    return 1;
}

/* Of a connection that comes back: its descriptor, and what was received of the next frame. */
static PyObject *returned(Connection *connection) {
    const uint8_t *from = connection->large ? connection->large->bytes : connection->held;
    size_t length = connection->large ? connection->large_length : connection->held_length;
    int fd = connection->fd;
    connection->fd = -1;
    connection->close_said = 1; /* the thread knows it no more: nothing is to be said to it */
    return Py_BuildValue("iiiy#", connection->seat, (int)RELEASED, fd, from ? (const char *)from : "", (Py_ssize_t)length);
}

static int append_notices(PyObject *list, const Delivery *delivery) {
    Notice *notices = delivery->notices.items;
    for (size_t i = 0; i < delivery->notices.count; i++) {
        Notice *each = notices + i;
        Connection *of = each->connection;
        if (each->kind == RELEASED && of->close_said)
            continue; /* CLOSED follows */
        PyObject *told = each->kind == RELEASED
                             ? returned(of)
                             : Py_BuildValue("iiKK", of->seat, (int)each->kind, (unsigned long long)each->value,
                                             (unsigned long long)each->more);
        if (!append(list, told))
            return 0;
    }
    return 1;
}

static int export_chunks(const Delivery *delivery) {
    Chunk **chunks = delivery->chunks.items;
    int whole = 1;
    for (size_t i = 0; i < delivery->chunks.count; i++) {
        PyObject *view = view_of(chunks[i]);
        if (view)
            chunks[i]->exporter = view;
        else
            chunks[i] = NULL, whole = 0;
    }
    return whole;
}

static void leave_chunks(const Delivery *delivery) {
    Chunk **chunks = delivery->chunks.items;
    for (size_t i = 0; i < delivery->chunks.count; i++)
        if (chunks[i])
            Py_DECREF((PyObject *)chunks[i]->exporter);
}

/* take(): (frames, notices), or None. Frames are seat, view, seat, view …; notices (seat, kind, value, more). */
static PyObject *channel_take(PyObject *self, PyObject *nothing) {
    Channel *channel = (Channel *)self;
    (void)nothing;
    if (!atomic_exchange(&channel->bell.rung, 0))
        Py_RETURN_NONE;
    Delivery *delivery = &channel->delivery;
    for (int i = 0; i < channel->count; i++)
        take_delivery(channel->processors[i], delivery);
    PyObject *frames = PyList_New(0), *notices = PyList_New(0), *both = NULL;
    int exported = export_chunks(delivery);
    if (frames && notices && exported && append_frames(frames, delivery) && append_notices(notices, delivery))
        both = PyTuple_Pack(2, frames, notices);
    leave_chunks(delivery);
    delivery->frames.count = delivery->notices.count = delivery->chunks.count = 0;
    Py_XDECREF(frames);
    Py_XDECREF(notices);
    return both;
}

/* For how long each thread has had nothing to do, in seconds. */
static PyObject *channel_idle(PyObject *self, PyObject *nothing) {
    Channel *channel = (Channel *)self;
    (void)nothing;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < channel->count; i++)
        if (!append(list, PyFloat_FromDouble((double)processor_idle_ns(channel->processors[i]) * 1e-9)))
            Py_CLEAR(list);
    return list;
}

static PyObject *channel_sendfile_bytes(PyObject *self, PyObject *nothing) {
    Channel *channel = (Channel *)self;
    unsigned long long sum = 0;
    (void)nothing;
    for (int i = 0; i < channel->count; i++)
        sum += processor_sendfile_bytes(channel->processors[i]);
    return PyLong_FromUnsignedLongLong(sum);
}

static void free_delivery(Delivery *delivery) {
    free(delivery->frames.items);
    free(delivery->notices.items);
    free(delivery->chunks.items);
    memset(delivery, 0, sizeof *delivery);
}

static void stop_all(Channel *channel) {
    Py_BEGIN_ALLOW_THREADS
    for (int i = 0; i < channel->count; i++)
        processor_stop(channel->processors[i]);
    Py_END_ALLOW_THREADS
    for (int i = 0; i < channel->count; i++)
        processor_free(channel->processors[i]);
    channel->count = 0;
    for (int seat = 0; seat < channel->room; seat++)
        if (channel->seats[seat])
            connection_free(channel->seats[seat]);
    free(channel->seats);
    free(channel->free_seats);
    free_delivery(&channel->delivery);
    channel->seats = NULL;
    channel->free_seats = NULL;
    channel->room = channel->free_count = 0;
    if (channel->bell.fd >= 0)
        close(channel->bell.fd);
    channel->bell.fd = -1;
}

/* End the threads, and close what they have. */
static PyObject *channel_stop(PyObject *self, PyObject *nothing) {
    (void)nothing;
    stop_all((Channel *)self);
    Py_RETURN_NONE;
}

static void channel_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    stop_all((Channel *)self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef channel_methods[] = {
    {"fileno", channel_fileno, METH_NOARGS, "What is polled, edge-triggered, for the next take."},
    {"start", channel_start, METH_O, "Have so many threads."},
    {"adopt", channel_adopt, METH_VARARGS, "Give a thread a connection."},
    {"put", (PyCFunction)(void (*)(void))channel_put, METH_FASTCALL, "Send bytes and slices as they are."},
    {"put_reply", (PyCFunction)(void (*)(void))channel_put_reply, METH_FASTCALL, "Send bytes with their size."},
    {"say", channel_say, METH_VARARGS, "Tell a thread something of a connection."},
    {"taken", (PyCFunction)(void (*)(void))channel_taken, METH_FASTCALL, "So many bytes are done with."},
    {"vacate", channel_vacate, METH_O, "Let another have a seat, after the thread's last word."},
    {"sent", channel_sent, METH_O, "Bytes that a socket has taken."},
    {"received", channel_received, METH_O, "Bytes that have come."},
    {"flush", channel_flush, METH_NOARGS, "Let the threads hear what was said."},
    {"take", channel_take, METH_NOARGS, "What has come since the last call."},
    {"idle", channel_idle, METH_NOARGS, "Seconds in which each thread had nothing to do."},
    {"sendfile_bytes", channel_sendfile_bytes, METH_NOARGS, "Bytes that they have sent without a copy."},
    {"stop", channel_stop, METH_NOARGS, "End the threads."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot channel_slots[] = {
    {Py_tp_new, channel_new},
    {Py_tp_dealloc, channel_dealloc},
    {Py_tp_methods, channel_methods},
    {0, NULL},
};

static PyType_Spec channel_spec = {
    "andiron.edge._native.Channel", sizeof(Channel), 0, Py_TPFLAGS_DEFAULT, channel_slots,
};

/* ── the module ────────────────────────────────────────────────────────────────────── */

static const struct {
    const char *name;
    int value;
} WORDS[] = {
    {"EDITION", EDITION}, {"MUTE", MUTE}, {"UNMUTE", UNMUTE}, {"GRANT", GRANT}, {"LEAVE_ROOM", LEAVE_ROOM},
    {"TELL_SENT", TELL_SENT}, {"RELEASE", RELEASE}, {"CLOSE", CLOSE}, {"ENDED", ENDED}, {"BAD_SIZE", BAD_SIZE},
    {"BROKEN", BROKEN}, {"UNSENT", UNSENT}, {"SLICE_LOST", SLICE_LOST}, {"ROOM_WANTED", ROOM_WANTED},
    {"ROOM_LEFT", ROOM_LEFT}, {"SENT_ALL", SENT_ALL}, {"RELEASED", RELEASED}, {"CLOSED", CLOSED},
};

/* Asked here and not in Python, where the modules that use this one know no environment. */
static int start(PyObject *module) {
    const char *wanted = getenv("ANDIRON_NATIVE");
    if (wanted && strcmp(wanted, "0") == 0) {
        PyErr_SetString(PyExc_ImportError, "ANDIRON_NATIVE=0");
        return -1;
    }
    exporter_type = (PyTypeObject *)PyType_FromSpec(&exporter_spec);
    PyObject *channel = PyType_FromSpec(&channel_spec);
    if (!exporter_type || !channel)
        return -1;
    int failed = PyModule_AddObjectRef(module, "Channel", channel);
    Py_DECREF(channel);
    for (size_t i = 0; !failed && i < sizeof WORDS / sizeof *WORDS; i++)
        failed = PyModule_AddIntConstant(module, WORDS[i].name, WORDS[i].value);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, start},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* or an interpreter without its lock would take it back for everybody */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Network threads.", 0, NULL, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
