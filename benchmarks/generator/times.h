/* Latencies, counted in buckets: each power of two in 64 steps, so a percentile is right to 1.6 %, and a run of any length
   costs the same memory and no sorting. */

#ifndef TIMES_H
#define TIMES_H

#include <stdint.h>

enum { STEPS_BITS = 6, BUCKETS = 40 << STEPS_BITS };

struct times {
    uint64_t count, of[BUCKETS];
};

void add_time(struct times *times, uint64_t nanoseconds);

/* Microseconds that so much of all took at most; 0 of none. */
double percentile(const struct times *times, double share);

#endif
