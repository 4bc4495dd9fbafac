/* CRC-32C (Castagnoli), the checksum in every batch header, by the processor's own instruction where it has one.

   The instruction takes eight bytes but gives its answer only cycles later, so three ranges of a block are summed side by
   side and put together afterwards: what comes before n bytes counts as if n zeros followed it, and what zeros do to a
   checksum is a linear map that tables hold for two fixed lengths of a range.

     │ first range │ second range │ third range │        sum = after(after(first) ^ second) ^ third

   Elsewhere eight tables take eight bytes at a time (slicing by 8). */

#include "records.h"
#include "record.h"

#include <pthread.h>

#define POLYNOMIAL 0x82f63b78u
#define LONG_RANGE 4096
#define SHORT_RANGE 256

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAS_INSTRUCTION
#define TARGET __attribute__((target("sse4.2")))
#define SUM8(sum, byte) __builtin_ia32_crc32qi(sum, byte)
#define SUM64(sum, word) (uint32_t)__builtin_ia32_crc32di(sum, word)
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))
#include <arm_acle.h>
#define HAS_INSTRUCTION
#if defined(__clang__)
#define TARGET __attribute__((target("crc")))
#else
#define TARGET __attribute__((target("+crc")))
#endif
#define SUM8(sum, byte) __crc32cb(sum, byte)
#define SUM64(sum, word) __crc32cd(sum, word)
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#else
static int has_instruction(void) { return 1; }
#endif
#endif

static uint32_t by_byte[8][256]; /* [n]: what a byte does to the sum with n bytes after it */

static uint32_t by_table(uint32_t sum, const uint8_t *at, const uint8_t *stop) {
    for (; stop - at >= 8; at += 8) {
        uint32_t low = sum ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        sum = by_byte[7][low & 0xff] ^ by_byte[6][low >> 8 & 0xff] ^ by_byte[5][low >> 16 & 0xff] ^ by_byte[4][low >> 24] ^
              by_byte[3][at[4]] ^ by_byte[2][at[5]] ^ by_byte[1][at[6]] ^ by_byte[0][at[7]];
    }
    while (at < stop)
        sum = sum >> 8 ^ by_byte[0][(sum ^ *at++) & 0xff];
    return sum;
}

static uint32_t (*summed)(uint32_t, const uint8_t *, const uint8_t *) = by_table;

#ifdef HAS_INSTRUCTION
typedef uint32_t Map[4][256]; /* a linear map of sums, byte by byte */

static Map after_long, after_short;

static inline uint32_t mapped(Map map, uint32_t sum) {
    return map[0][sum & 0xff] ^ map[1][sum >> 8 & 0xff] ^ map[2][sum >> 16 & 0xff] ^ map[3][sum >> 24];
}

/* What `zeros` zero bytes do to a sum. */
static void fill_map(Map map, int zeros) {
    static const uint8_t nothing[LONG_RANGE];
    for (int place = 0; place < 4; place++) {
        map[place][0] = 0;
        for (uint32_t bit = 1; bit < 256; bit <<= 1) {
            uint32_t image = by_table(bit << 8 * place, nothing, nothing + zeros);
            for (uint32_t lower = 0; lower < bit; lower++)
                map[place][bit + lower] = map[place][lower] ^ image;
        }
    }
}

static inline uint64_t word(const uint8_t *at) {
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    return eight;
}

TARGET static inline uint32_t three_at_once(uint32_t sum, const uint8_t **at, const uint8_t *stop, int range, Map after) {
    const uint8_t *here = *at;
    while (stop - here >= 3 * range) {
        uint32_t second = 0, third = 0;
        for (const uint8_t *end = here + range; here < end; here += 8) {
            sum = SUM64(sum, word(here));
            second = SUM64(second, word(here + range));
            third = SUM64(third, word(here + 2 * range));
        }
        here += 2 * range;
        sum = mapped(after, mapped(after, sum) ^ second) ^ third;
    }
    *at = here;
    return sum;
}

TARGET static uint32_t by_instruction(uint32_t sum, const uint8_t *at, const uint8_t *stop) {
    sum = three_at_once(sum, &at, stop, LONG_RANGE, after_long);
    sum = three_at_once(sum, &at, stop, SHORT_RANGE, after_short);
    for (; stop - at >= 8; at += 8)
        sum = SUM64(sum, word(at));
    while (at < stop)
        sum = SUM8(sum, *at++);
    return sum;
}
#endif

static void fill_and_choose(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (POLYNOMIAL & (0 - (sum & 1)));
        by_byte[0][byte] = sum;
    }
    for (int after = 1; after < 8; after++)
        for (int byte = 0; byte < 256; byte++)
            by_byte[after][byte] = by_byte[after - 1][byte] >> 8 ^ by_byte[0][by_byte[after - 1][byte] & 0xff];
#ifdef HAS_INSTRUCTION
    if (has_instruction()) {
        fill_map(after_long, LONG_RANGE);
        fill_map(after_short, SHORT_RANGE);
        summed = by_instruction;
    }
#endif
}

/* Once a process, however many interpreters and threads import this; from then on the tables are read alone. */
void choose_crc32c(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_and_choose);
}

uint32_t checksum(const uint8_t *from, const uint8_t *stop) { return ~summed(~0u, from, stop); }

/* crc32c(bytes, start, stop), or of all there are. */
PyObject *crc32c(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    (void)module;
    Py_buffer bytes;
    const uint8_t *from, *stop;
    if (count == 1) {
        if (PyObject_GetBuffer(arguments[0], &bytes, PyBUF_SIMPLE) != 0)
            return NULL;
        from = bytes.buf;
        stop = from + bytes.len;
    } else if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "crc32c takes bytes, and from where to where");
        return NULL;
    } else if (!borrow_range(arguments, &bytes, &from, &stop))
        return NULL;
    PyThreadState *released = stop - from >= 16 * GIL_BYTES ? PyEval_SaveThread() : NULL;
    uint32_t sum = checksum(from, stop);
    if (released)
        PyEval_RestoreThread(released);
    PyBuffer_Release(&bytes);
    return PyLong_FromUnsignedLong(sum);
}
