/* Sending and receiving of connection.h. */

#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BUFFER (256 << 10)

static uint8_t buffer[BUFFER];

static void end(const char *what) {
    fprintf(stderr, "generator: %s: %s\n", what, strerror(errno));
    exit(1);
}

int connect_to(const char *host, int port) {
    char service[16];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
    snprintf(service, sizeof service, "%d", port);
    int failed = getaddrinfo(host, service, &wanted, &found);
    if (failed) {
        fprintf(stderr, "generator: %s: %s\n", host, gai_strerror(failed));
        exit(1);
    }
    int fd = socket(found->ai_family, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        end("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    freeaddrinfo(found);
    return fd;
}

static void receive_exactly(int fd, uint8_t *to, size_t size) {
    while (size) {
        ssize_t count = recv(fd, to, size, 0);
        if (count <= 0)
            end("no answer");
        to += count;
        size -= (size_t)count;
    }
}

uint8_t *ask(int fd, const struct request *request, size_t *size) {
    uint8_t head[HEAD], length[4];
    write_head(head, request, 0);
    struct iovec parts[2] = {{head, HEAD}, {request->rest.at, request->rest.size}};
    if (writev(fd, parts, 2) != (ssize_t)(HEAD + request->rest.size))
        end("cannot ask");
    receive_exactly(fd, length, 4);
    *size = read_u32(length);
    uint8_t *answer = malloc(*size);
    if (answer == NULL)
        end("no memory");
    receive_exactly(fd, answer, *size);
    return answer;
}

void issue(struct connection *connection) {
    write_head(connection->heads[connection->issued % IN_FLIGHT_MAX], &connection->request, connection->issued);
    connection->sent_at[connection->issued % IN_FLIGHT_MAX] = 0;
    connection->issued++;
    connection->due++;
}

int send_due(struct connection *connection, uint64_t now) {
    struct iovec parts[2 * IN_FLIGHT_MAX];
    size_t frame = HEAD + connection->request.rest.size;
    while (connection->due) {
        int count = 0;
        for (uint32_t each = connection->issued - connection->due; each != connection->issued; each++) {
            uint32_t place = each % IN_FLIGHT_MAX;
            parts[count++] = (struct iovec){connection->heads[place], HEAD};
            parts[count++] = (struct iovec){connection->request.rest.at, connection->request.rest.size};
            if (connection->sent_at[place] == 0)
                connection->sent_at[place] = now; /* a request that waits for room in the socket is under way */
        }
        size_t skip = connection->sent_of_first;
        for (int part = 0; skip && part < 2; part++) {
            size_t gone = skip < parts[part].iov_len ? skip : parts[part].iov_len;
            parts[part].iov_base = (uint8_t *)parts[part].iov_base + gone;
            parts[part].iov_len -= gone;
            skip -= gone;
        }
        ssize_t sent = writev(connection->fd, parts, count);
        if (sent < 0)
            return errno == EAGAIN ? 0 : -1;
        size_t all = connection->sent_of_first + (size_t)sent;
        connection->due -= (uint32_t)(all / frame);
        connection->sent_of_first = all % frame;
    }
    return 0;
}

static void walk_batches(struct batches *batches, const uint8_t *at, size_t size) {
    while (size) {
        size_t count;
        if (batches->have < BATCH_FRONT) {
            count = BATCH_FRONT - batches->have < size ? BATCH_FRONT - batches->have : size;
            memcpy(batches->front + batches->have, at, count);
            batches->have += (uint32_t)count;
            if (batches->have == BATCH_FRONT)
                batches->left = 12 + (uint64_t)read_u32(batches->front + 8) - BATCH_FRONT;
        } else {
            count = batches->left < size ? (size_t)batches->left : size;
            batches->left -= count;
            if (batches->left == 0) {
                uint32_t count_of_records = read_u32(batches->front + 23) + 1;
                batches->next_offset = (int64_t)read_u64(batches->front) + count_of_records;
                batches->records += count_of_records;
                batches->have = 0;
            }
        }
        at += count;
        size -= count;
    }
}

static void take_records(struct connection *connection, const uint8_t *at, size_t size) {
    size_t count = size < connection->records_left ? size : connection->records_left;
    walk_batches(&connection->batches, at, count);
    connection->records_left -= (uint32_t)count;
}

/* Some more of an answer. */
static void take(struct connection *connection, const uint8_t *at, size_t size) {
    size_t before = connection->got, after = before + size;
    if (before < FRONT)
        memcpy(connection->front + before, at, after < FRONT ? size : FRONT - before);
    connection->got = (uint32_t)after;
    if (connection->request.key != FETCH)
        return;
    if (connection->records_at) {
        take_records(connection, at, size);
        return;
    }
    size_t known = after < FRONT ? after : FRONT;
    connection->records_at = read_fetch_answer(
        connection->front, known, &connection->error, &connection->watermark, &connection->records_bytes);
    if (connection->records_at == 0)
        return; /* more of the front is to come */
    connection->records_left = connection->records_bytes;
    connection->batches.have = 0; /* a batch that was cut off in the last answer comes again */
    take_records(connection, connection->front + connection->records_at, known - connection->records_at);
    if (after > known)
        take_records(connection, at + (known - before), after - known);
}

int receive(struct connection *connection, void (*answered)(struct connection *)) {
    ssize_t count = recv(connection->fd, buffer, BUFFER, 0);
    if (count <= 0)
        return count < 0 && errno == EAGAIN ? 0 : -1;
    for (uint8_t *at = buffer, *stop = buffer + count; at < stop;) {
        if (connection->size_have < 4) {
            connection->size[connection->size_have++] = *at++;
            if (connection->size_have == 4) {
                connection->answer_size = read_u32(connection->size);
                connection->got = 0;
                connection->records_at = connection->records_bytes = connection->records_left = 0;
            }
            continue;
        }
        size_t rest = connection->answer_size - connection->got, here = (size_t)(stop - at);
        size_t size = rest < here ? rest : here;
        take(connection, at, size);
        at += size;
        if (connection->got == connection->answer_size) {
            connection->size_have = 0;
            answered(connection);
        }
    }
    return 0;
}
