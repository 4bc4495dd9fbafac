/* One connection to a broker: some requests under way, answers taken apart as they stream in.

     due ──▶ sent ──▶ unanswered ──▶ answered        one writev for all that are due, one recv a readiness

   Nothing of an answer is kept but its front: the records of a fetch go through one buffer that all connections share
   and stays in the processor's cache, and only the headers of their batches are looked at. So a fetch costs this side
   what the kernel's copying costs, as it must any client. */

#ifndef CONNECTION_H
#define CONNECTION_H

#include "wire.h"

enum { FRONT = 256, BATCH_FRONT = 27, IN_FLIGHT_MAX = 64 };

/* Where we are in a stream of record batches, and what has come whole. */
struct batches {
    uint8_t front[BATCH_FRONT]; /* base offset, length, … last offset delta */
    uint32_t have;
    uint64_t left; /* of the batch, after its front */
    int64_t next_offset;
    uint64_t records;
};

struct connection {
    int fd;
    int wants_out; /* epoll watches for room in the socket */
    struct request request;
    uint32_t partition;

    uint32_t issued, answered; /* correlations: the next to be given, the next to be answered */
    uint32_t due;              /* issued and not all sent, */
    size_t sent_of_first;      /* the first of them so far */
    uint8_t heads[IN_FLIGHT_MAX][HEAD];
    uint64_t sent_at[IN_FLIGHT_MAX];

    uint8_t size[4]; /* of the answer that is coming */
    uint32_t size_have, answer_size, got;
    uint8_t front[FRONT];
    size_t records_at; /* of a fetch: where its records begin, 0 until that is known */
    uint32_t records_bytes, records_left;
    int16_t error;
    int64_t watermark, base_offset;
    struct batches batches;
};

/* Connect, or say why not and end. */
int connect_to(const char *host, int port);

/* Send a request on a connection that blocks, and wait for its answer, which is the caller's to free. */
uint8_t *ask(int fd, const struct request *request, size_t *size);

/* Note one more request to be sent. */
void issue(struct connection *connection);

/* Send what is due, as far as the socket takes it. 0, or -1 where the connection broke. */
int send_due(struct connection *connection, uint64_t now);

/* Receive once and call `answered` for every answer that is complete, while its front is there to be read.
   0, or -1 where the broker closed or the connection broke. */
int receive(struct connection *connection, void (*answered)(struct connection *));

#endif
