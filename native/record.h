/* How a record lies in its batch.

     length · attributes · timestamp delta · offset delta · key length · key · value length · value
            · header count · (key length · key · value length · value)*

   All but the attributes byte are varints (zigzag, seven bits a byte, lowest first) or follow one; a length of -1 is a
   null. */

#ifndef ANDIRON_RECORD_H
#define ANDIRON_RECORD_H

#include <stdint.h>

#define RECORD_BYTES_MIN 7 /* length, attributes, timestamp, offset, key, value, headers: a byte each */
#define GIL_BYTES (64 * 1024) /* work on less than this is done before another thread has woken up */

/* The number at `*at`, which moves behind it; 0 if it does not end before `stop`, or has more than 64 bits. */
static inline int read_varint(const uint8_t **at, const uint8_t *stop, int64_t *number) {
    const uint8_t *pos = *at;
    if (pos >= stop)
        return 0;
    uint64_t z = *pos++;
    if (z >= 0x80) {
        z &= 0x7f;
        for (unsigned shift = 7;; shift += 7) {
            if (pos >= stop)
                return 0;
            uint8_t byte = *pos++;
            if (shift == 63 && byte > 1) /* of the tenth byte there is room for one bit */
                return 0;
            z |= (uint64_t)(byte & 0x7f) << shift;
            if (byte < 0x80)
                break;
        }
    }
    *at = pos;
    *number = (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
    return 1;
}

#endif
