/* A walk over the records of one batch: walk.c, for whoever has looked at the header. */

#ifndef ANDIRON_WALK_H
#define ANDIRON_WALK_H

#include "records.h"

#define NO_TIMESTAMP (-1)

enum Fault { NO_KEY, OUT_OF_TIME };

typedef struct {
    int32_t index;
    enum Fault fault;
} Faulty;

typedef struct {
    const uint8_t *at, *end;
    int64_t base_timestamp, claimed, count, earliest, latest, told_max; /* faulty records to tell of, at most */
    int keyed;
    int64_t max_timestamp, faults, room; /* the first begins as NO_TIMESTAMP */
    Faulty *told;                        /* for the caller to free */
} Walk;

const char *look_at_all(Walk *walk); /* what is wrong, or NULL: then the rest of `walk` tells what was found */

#endif
