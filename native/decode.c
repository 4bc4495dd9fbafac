/* Records of many batches as Arrow columns, in two walks. Twin: src/andiron/columns/walk.py.

     length · attributes · timestamp delta · offset delta · key length · key · value length · value
            · header count · (key length · key · value length · value)*

   The first walk (`measure`) refuses what makes no sense and counts rows, bytes and headers; Python then gets the
   memory for all columns from Arrow's pool, in one piece and no larger than needed, and the second (`walk`) fills
   it. Memory is the reason for two: fresh pages cost several times what reading a record does, the pool's are
   warm. The second walk trusts the first for nothing: bytes may have changed meanwhile, so it compares what it
   writes with the room there is.

     key offsets │ key bytes │ key validity │ value … │ offset │ timestamp │ type │ lists │ header keys … */

#include "columns.h"
#include "record.h"

enum { SOURCE, START, STOP, BASE_OFFSET, LAST_DELTA, TIMESTAMP, TIMESTAMP_TYPE, COUNT, TABLE_COLUMNS };

#define MILLIS_MAX (INT64_MAX / 1000)
#define ALIGNMENT 64 /* as Arrow has it */
#define CHANGED "bytes that change while they are read"

/* A column of keys or values: counted in the first walk, written up to what was counted in the second. */
typedef struct {
    int32_t *offset;
    uint8_t *bytes, *bits;
    int64_t rows, used, nulls, rows_max, bytes_max;
} Blobs;

typedef struct {
    Py_buffer *sources;
    Py_ssize_t source_count;
    Py_buffer table, arena;
    int64_t start, end, bytes;
    int with_headers;
    Blobs key, value, header_key, header_value;
    int64_t rows, lists_null;
    int64_t *offset, *timestamp;
    int32_t *type, *list;
    uint8_t *list_bits;
} Walk;

/* One record, as far as it was read. */
typedef struct {
    int64_t timestamp, offset, key_length, value_length, headers;
    const uint8_t *key, *value;
} Record;

static inline int read_blob(const uint8_t **at, const uint8_t *stop, const uint8_t **blob, int64_t *length) {
    if (!read_varint(at, stop, length) || *length > stop - *at)
        return 0;
    *blob = *at;
    if (*length > 0)
        *at += *length;
    return 1;
}

/* Read the record at `*at` up to its headers; `*stop` becomes its own end. */
static inline const char *read_record(const uint8_t **at, const uint8_t **stop, Record *record) {
    int64_t length;
    if (!read_varint(at, *stop, &length) || length < 1 || length > *stop - *at)
        return "a record beyond its batch";
    *stop = *at + length;
    *at += 1; /* attributes, which are unused */
    if (!read_varint(at, *stop, &record->timestamp) || !read_varint(at, *stop, &record->offset))
        return "a record ends too soon";
    if (!read_blob(at, *stop, &record->key, &record->key_length) ||
        !read_blob(at, *stop, &record->value, &record->value_length))
        return "a key or value beyond its record";
    if (!read_varint(at, *stop, &record->headers) || record->headers < 0)
        return "a number of headers that makes no sense";
    return NULL;
}

static inline void clear_bit(uint8_t *bits, int64_t n) { bits[n >> 3] &= (uint8_t) ~(1u << (n & 7)); }

static inline int put(Blobs *blobs, const uint8_t *blob, int64_t length, const int filling) {
    int64_t row = blobs->rows++, size = length > 0 ? length : 0;
    if (filling) {
        if (row >= blobs->rows_max || size > blobs->bytes_max - blobs->used)
            return 0;
        if (length < 0) {
            clear_bit(blobs->bits, row);
            blobs->nulls++;
        }
        memcpy(blobs->bytes + blobs->used, blob, (size_t)size);
        blobs->offset[row + 1] = (int32_t)(blobs->used + size);
    }
    blobs->used += size;
    return 1;
}

static inline const char *
read_headers(Walk *walk, const uint8_t *at, const uint8_t *stop, int64_t count, int kept, const int filling) {
    if (count > (stop - at) / 2)
        return "a number of headers that does not fit";
    for (int64_t n = 0; n < count; n++) {
        const uint8_t *key, *value;
        int64_t key_length, value_length;
        if (!read_blob(&at, stop, &key, &key_length) || key_length < 0)
            return "a header without a key";
        if (!read_blob(&at, stop, &value, &value_length))
            return "a header beyond its record";
        if (kept && (!put(&walk->header_key, key, key_length, filling) ||
                     !put(&walk->header_value, value, value_length, filling)))
            return CHANGED;
    }
    return at == stop ? NULL : "a record is longer than what it holds";
}

static inline int time_of(const int64_t *batch, int64_t delta, int64_t *timestamp) {
    *timestamp = batch[TIMESTAMP];
    if (batch[TIMESTAMP_TYPE] == 0 && __builtin_add_overflow(*timestamp, delta, timestamp))
        return 0;
    return *timestamp <= MILLIS_MAX && *timestamp >= -MILLIS_MAX;
}

static inline int put_row(Walk *walk, const Record *record, int64_t offset, int64_t timestamp, int64_t type) {
    int64_t row = walk->rows;
    if (!put(&walk->key, record->key, record->key_length, 1) ||
        !put(&walk->value, record->value, record->value_length, 1))
        return 0;
    walk->offset[row] = offset;
    walk->timestamp[row] = timestamp * 1000;
    walk->type[row] = (int32_t)type;
    if (walk->with_headers) {
        walk->list[row + 1] = (int32_t)walk->header_key.rows;
        if (!record->headers) { /* Spark shows a null for none */
            clear_bit(walk->list_bits, row);
            walk->lists_null++;
        }
    }
    return 1;
}

static inline const char *
read_batch(Walk *walk, const int64_t *batch, const uint8_t *at, const uint8_t *end, const int filling) {
    for (int64_t n = 0; n < batch[COUNT]; n++) {
        const uint8_t *stop = end;
        Record record;
        int64_t timestamp;
        const char *wrong = read_record(&at, &stop, &record);
        if (wrong)
            return wrong;
        if (record.offset < 0 || record.offset > batch[LAST_DELTA])
            return "an offset outside its batch";
        if (!time_of(batch, record.timestamp, &timestamp))
            return "a timestamp that microseconds cannot tell";
        int64_t offset = batch[BASE_OFFSET] + record.offset;
        int kept = offset >= walk->start && offset < walk->end;
        if (walk->with_headers) {
            if ((wrong = read_headers(walk, at, stop, record.headers, kept, filling)))
                return wrong;
        } else if (!record.headers && at != stop)
            return "a record is longer than what it holds";
        at = stop;
        if (!kept)
            continue;
        if (!filling) {
            put(&walk->key, record.key, record.key_length, 0);
            put(&walk->value, record.value, record.value_length, 0);
        } else if (!put_row(walk, &record, offset, timestamp, batch[TIMESTAMP_TYPE]))
            return CHANGED;
        walk->rows++;
    }
    return at == end ? NULL : "the records do not fill their batch";
}

/* Hold a row of the table against its source. */
static inline const char *check_batch(const Walk *walk, const int64_t *batch) {
    int64_t last;
    if (batch[SOURCE] < 0 || batch[SOURCE] >= walk->source_count)
        return "a batch without a source";
    if (batch[START] < 0 || batch[STOP] < batch[START] || batch[STOP] > walk->sources[batch[SOURCE]].len)
        return "a batch is cut short";
    if (batch[COUNT] < 0 || batch[COUNT] > (batch[STOP] - batch[START]) / RECORD_BYTES_MIN)
        return "more records than there is room for";
    if (__builtin_add_overflow(batch[BASE_OFFSET], batch[LAST_DELTA], &last))
        return "offsets beyond the last there is";
    return NULL;
}

static inline const char *read_batches(Walk *walk, const int filling) {
    int64_t batch[TABLE_COLUMNS];
    walk->bytes = 0;
    for (Py_ssize_t at = 0; at + (Py_ssize_t)sizeof batch <= walk->table.len; at += sizeof batch) {
        memcpy(batch, (const char *)walk->table.buf + at, sizeof batch);
        const char *wrong = check_batch(walk, batch);
        if (wrong)
            return wrong;
        walk->bytes += batch[STOP] - batch[START];
        if (walk->bytes > INT32_MAX)
            return "more than 2 GiB at once";
        const uint8_t *source = walk->sources[batch[SOURCE]].buf;
        if ((wrong = read_batch(walk, batch, source + batch[START], source + batch[STOP], filling)))
            return wrong;
    }
    return NULL;
}

static const char *measure_all(Walk *walk) { return read_batches(walk, 0); }

static const char *fill_all(Walk *walk) {
    const char *wrong = read_batches(walk, 1);
    if (wrong)
        return wrong;
    const Blobs *each[] = {&walk->key, &walk->value, &walk->header_key, &walk->header_value};
    for (int n = 0; n < 4; n++)
        if (each[n]->rows != each[n]->rows_max || each[n]->used != each[n]->bytes_max)
            return CHANGED;
    return NULL;
}

/* Walk without the interpreter's lock, if there is enough to walk. */
static int run(Walk *walk, const char *(*each)(Walk *)) {
    int64_t bytes = 0;
    for (Py_ssize_t n = 0; n < walk->source_count; n++)
        bytes += walk->sources[n].len;
    PyThreadState *released = bytes >= GIL_BYTES ? PyEval_SaveThread() : NULL;
    const char *wrong = each(walk);
    if (released)
        PyEval_RestoreThread(released);
    if (wrong)
        PyErr_SetString(PyExc_ValueError, wrong);
    return !wrong;
}

/* The next `size` bytes of the arena; without an arena, only how far it would reach. */
static void *place(const Walk *walk, int64_t *used, int64_t size) {
    void *here = walk->arena.buf ? (char *)walk->arena.buf + *used : NULL;
    *used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return here;
}

static void place_blobs(const Walk *walk, Blobs *blobs, int64_t *used) {
    blobs->offset = place(walk, used, 4 * (blobs->rows_max + 1));
    blobs->bytes = place(walk, used, blobs->bytes_max);
    blobs->bits = place(walk, used, (blobs->rows_max + 7) / 8);
}

/* Divide the arena among the columns; how large it must be is the answer. */
static int64_t lay_out(Walk *walk) {
    int64_t used = 0, rows = walk->key.rows_max;
    place_blobs(walk, &walk->key, &used);
    place_blobs(walk, &walk->value, &used);
    walk->offset = place(walk, &used, 8 * rows);
    walk->timestamp = place(walk, &used, 8 * rows);
    walk->type = place(walk, &used, 4 * rows);
    if (walk->with_headers) {
        walk->list = place(walk, &used, 4 * (rows + 1));
        walk->list_bits = place(walk, &used, (rows + 7) / 8);
        place_blobs(walk, &walk->header_key, &used);
        place_blobs(walk, &walk->header_value, &used);
    }
    return used;
}

static void begin_blobs(Blobs *blobs) {
    blobs->offset[0] = 0;
    memset(blobs->bits, 0xff, (size_t)((blobs->rows_max + 7) / 8));
}

static void begin(Walk *walk) {
    begin_blobs(&walk->key);
    begin_blobs(&walk->value);
    if (walk->with_headers) {
        begin_blobs(&walk->header_key);
        begin_blobs(&walk->header_value);
        walk->list[0] = 0;
        memset(walk->list_bits, 0xff, (size_t)((walk->key.rows_max + 7) / 8));
    }
}

#define AT(pointer) (long long)((char *)(pointer) - (char *)walk->arena.buf)

static PyObject *blob_places(const Walk *walk, const Blobs *blobs) {
    return Py_BuildValue("LLLLLL", (long long)blobs->rows, (long long)blobs->nulls, AT(blobs->bits), AT(blobs->offset),
                         AT(blobs->bytes), (long long)blobs->used);
}

static PyObject *places(const Walk *walk) {
    PyObject *key = blob_places(walk, &walk->key), *value = blob_places(walk, &walk->value);
    if (!walk->with_headers)
        return Py_BuildValue("NNLLLO", key, value, AT(walk->offset), AT(walk->timestamp), AT(walk->type), Py_None);
    PyObject *header_key = blob_places(walk, &walk->header_key), *header_value = blob_places(walk, &walk->header_value);
    PyObject *lists = Py_BuildValue("LLLNN", (long long)walk->lists_null, AT(walk->list_bits), AT(walk->list), header_key,
                                    header_value);
    return Py_BuildValue("NNLLLN", key, value, AT(walk->offset), AT(walk->timestamp), AT(walk->type), lists);
}

static int borrow_sources(Walk *walk, PyObject *sources) {
    Py_ssize_t count = PyList_Size(sources);
    walk->sources = PyMem_Calloc((size_t)count + 1, sizeof *walk->sources);
    if (!walk->sources) {
        PyErr_NoMemory();
        return 0;
    }
    for (; walk->source_count < count; walk->source_count++) {
        PyObject *source = PySequence_GetItem(sources, walk->source_count); /* ours, whatever becomes of the list */
        int borrowed = source && borrow(source, &walk->sources[walk->source_count]);
        Py_XDECREF(source);
        if (!borrowed)
            return 0;
    }
    return 1;
}

static void drop(Walk *walk) {
    PyBuffer_Release(&walk->table);
    PyBuffer_Release(&walk->arena);
    for (Py_ssize_t n = 0; n < walk->source_count; n++)
        PyBuffer_Release(&walk->sources[n]);
    PyMem_Free(walk->sources);
}

/* measure(sources, table, start, end, headers): the arena's size, then rows and bytes of each column. What a bad
   byte is found to be is a ValueError. */
PyObject *measure(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *sources, *table, *found = NULL;
    Walk it;
    memset(&it, 0, sizeof it);
    if (!PyArg_ParseTuple(arguments, "O!OLLp", &PyList_Type, &sources, &table, &it.start, &it.end, &it.with_headers))
        return NULL;
    if (borrow_sources(&it, sources) && borrow(table, &it.table) && run(&it, measure_all)) {
        Blobs *each[] = {&it.key, &it.value, &it.header_key, &it.header_value};
        for (int n = 0; n < 4; n++) {
            each[n]->rows_max = each[n]->rows;
            each[n]->bytes_max = each[n]->used;
        }
        found = Py_BuildValue("LLLLLLL", (long long)lay_out(&it), (long long)it.key.rows_max, (long long)it.key.bytes_max,
                              (long long)it.value.bytes_max, (long long)it.header_key.rows_max,
                              (long long)it.header_key.bytes_max, (long long)it.header_value.bytes_max);
    }
    drop(&it);
    return found;
}

/* Whether the arena is as large as the counts say; counts that no walk could find are refused. */
static int arena_fits(Walk *walk, int64_t size) {
    const Blobs *each[] = {&walk->key, &walk->value, &walk->header_key, &walk->header_value};
    int sound = !walk->arena.readonly;
    for (int n = 0; n < 4; n++)
        sound = sound && each[n]->rows_max >= 0 && each[n]->rows_max <= INT32_MAX && each[n]->bytes_max >= 0 &&
                each[n]->bytes_max <= INT32_MAX;
    sound = sound && lay_out(walk) == size && size <= walk->arena.len;
    if (!sound)
        PyErr_SetString(PyExc_TypeError, "an arena that was not measured");
    return sound;
}

/* walk(sources, table, start, end, headers, counts, arena): fill the arena; where everything lies in it. */
PyObject *walk(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *sources, *table, *arena, *found = NULL;
    int64_t size;
    Walk it;
    memset(&it, 0, sizeof it);
    if (!PyArg_ParseTuple(arguments, "O!OLLp(LLLLLLL)O", &PyList_Type, &sources, &table, &it.start, &it.end,
                          &it.with_headers, &size, &it.key.rows_max, &it.key.bytes_max, &it.value.bytes_max,
                          &it.header_key.rows_max, &it.header_key.bytes_max, &it.header_value.bytes_max, &arena))
        return NULL;
    it.value.rows_max = it.key.rows_max;
    it.header_value.rows_max = it.header_key.rows_max;
    if (borrow_sources(&it, sources) && borrow(table, &it.table) &&
        PyObject_GetBuffer(arena, &it.arena, PyBUF_WRITABLE) == 0 && arena_fits(&it, size)) {
        begin(&it);
        if (run(&it, fill_all))
            found = places(&it);
    }
    drop(&it);
    return found;
}
