/* The buckets of times.h: below 64 ns a bucket a nanosecond, then 64 buckets for each power of two. */

#include "times.h"

static uint32_t bucket(uint64_t nanoseconds) {
    uint32_t power = 63 - (uint32_t)__builtin_clzll(nanoseconds | 1);
    if (power < STEPS_BITS)
        return (uint32_t)nanoseconds;
    uint32_t shift = power - STEPS_BITS;
    uint32_t found = (shift << STEPS_BITS) + (uint32_t)(nanoseconds >> shift);
    return found < BUCKETS ? found : BUCKETS - 1;
}

/* The longest time of a bucket. */
static uint64_t top(uint32_t bucket) {
    if (bucket < 2u << STEPS_BITS)
        return bucket;
    uint32_t shift = (bucket >> STEPS_BITS) - 1;
    return (((uint64_t)(bucket - (shift << STEPS_BITS)) + 1) << shift) - 1;
}

void add_time(struct times *times, uint64_t nanoseconds) {
    times->of[bucket(nanoseconds)]++;
    times->count++;
}

double percentile(const struct times *times, double share) {
    uint64_t seen = 0, wanted = (uint64_t)(share * (double)times->count + 0.5);
    for (uint32_t each = 0; each < BUCKETS; each++) {
        seen += times->of[each];
        if (seen && seen >= wanted)
            return (double)top(each) / 1000;
    }
    return 0;
}
