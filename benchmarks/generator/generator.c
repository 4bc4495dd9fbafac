/* A load that is not the limit of what it measures: one thread, epoll, requests built beforehand.

     generator produce port=9092 topic=t connections=4 in_flight=5 batch_bytes=16384 record_bytes=100 seconds=5
     generator fetch   port=9092 topic=t connections=4 max_bytes=1048576 seconds=5
     generator idle    port=9092 idle=1000 seconds=5

   A generator in Python takes more CPU for a small request than a broker does, and then its own rate is what one
   measures. This one says what it used itself: where `core` is above 0.8, it was the limit after all.

   produce   connection n writes to partition n modulo the topic's, at its leader; `in_flight` requests under way on each;
             every answer is looked at. A crowd is many connections with a batch of one record.
   fetch     the same for reading: each connection from the start of its partition to the end, and again
   idle      connections that were let in and say nothing; beside the other two as well

   It ends after `seconds`, or after `bytes` of batches were sent, whichever comes first, and waits for the answers that
   are owed: what it counts is what the broker acknowledged. One line of JSON: times in seconds but for the latencies,
   which are microseconds from the first byte sent to the last received. With wait=1 it says first that all connections
   stand, and begins when it is sent a line: whoever measures the broker's CPU does not want theirs in it. */

#include "connection.h"
#include "times.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define READY_MAX 256
#define SILENCE_S 60 /* after which a broker that owes answers is given up */
#define SECOND 1000000000ull

static struct {
    const char *mode, *host, *topic;
    long port, connections, in_flight, idle, acks, wait;
    long batch_bytes, record_bytes, max_bytes, bytes;
    double seconds;
} wanted = {
    .host = "127.0.0.1", .topic = "load", .port = 9092, .connections = 1, .in_flight = 1, .acks = 1,
    .batch_bytes = 16384, .record_bytes = 100, .max_bytes = 1 << 20, .seconds = 5,
};

static int poll_fd;
static uint64_t until;          /* no request is sent after that */
static uint64_t left = ~0ull;   /* requests that may still be sent */
static uint64_t unanswered;
static uint32_t records_each;   /* of a batch */
static uint64_t batch_size;     /* in bytes, as it turned out */
static struct {
    uint64_t requests, records, bytes, lost;
    struct times times;
} done;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *what, ...) {
    va_list values;
    va_start(values, what);
    fprintf(stderr, "generator: ");
    vfprintf(stderr, what, values);
    fprintf(stderr, "\n");
    exit(1);
}

static uint64_t now_ns(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static double cpu_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void issue_next(struct connection *connection, uint64_t now) {
    if (now >= until || left == 0)
        return;
    left--;
    unanswered++;
    issue(connection);
}

static void finish(struct connection *connection, uint64_t now) {
    add_time(&done.times, now - connection->sent_at[connection->answered % IN_FLIGHT_MAX]);
    connection->answered++;
    done.requests++;
    unanswered--;
}

static void produced(struct connection *connection) {
    int16_t error = read_produce_answer(connection->front, connection->got < FRONT ? connection->got : FRONT,
                                        &connection->base_offset);
    if (error)
        fail("a produce request was answered with error %d", error);
    done.records += records_each;
    done.bytes += batch_size;
}

static void fetched(struct connection *connection) {
    struct batches *batches = &connection->batches;
    if (connection->error)
        fail("a fetch was answered with error %d", connection->error);
    if (connection->watermark == 0)
        fail("partition %u is empty", connection->partition);
    done.bytes += connection->records_bytes;
    done.records += batches->records;
    batches->records = 0;
    if (batches->next_offset >= connection->watermark)
        batches->next_offset = 0; /* round and round */
    write_u64(connection->request.rest.at + connection->request.offset_at, (uint64_t)batches->next_offset);
}

static void answered(struct connection *connection) {
    if (read_u32(connection->front) != connection->answered)
        fail("an answer came out of its turn: request %u", connection->answered);
    if (connection->request.key == PRODUCE)
        produced(connection);
    else
        fetched(connection);
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    finish(connection, now);
    issue_next(connection, now);
}

/* Send, and be told of room in the socket only while there is need of it. */
static void push(struct connection *connection) {
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    if (send_due(connection, now) != 0)
        fail("connection %d broke", connection->fd);
    if (wanted.acks == 0 && connection->request.key == PRODUCE)
        while (connection->answered != connection->issued - connection->due) { /* sent is all there is to know */
            done.records += records_each;
            done.bytes += batch_size;
            finish(connection, now);
            issue_next(connection, now);
        }
    int wants_out = connection->due > 0;
    if (wants_out != connection->wants_out) {
        struct epoll_event event = {.events = EPOLLIN | (wants_out ? EPOLLOUT : 0), .data.ptr = connection};
        epoll_ctl(poll_fd, EPOLL_CTL_MOD, connection->fd, &event);
        connection->wants_out = wants_out;
    }
}

/* ── connections ─────────────────────────────────────────────────────────────────────────────────────────────────── */

static uint32_t find_leaders(struct leader *leaders) {
    struct request question = metadata_request(wanted.topic);
    int fd = connect_to(wanted.host, (int)wanted.port);
    uint32_t count = 0;
    for (int attempt = 0; count == 0 && attempt < 100; attempt++) {
        size_t size;
        uint8_t *answer = ask(fd, &question, &size);
        count = read_metadata_answer(answer, size, leaders);
        free(answer);
        if (count == 0)
            usleep(50000);
    }
    close(fd);
    if (count == 0 || count > PARTITIONS_MAX)
        fail("the topic has no leaders, or more than %d partitions", PARTITIONS_MAX);
    return count;
}

static void watch(struct connection *connection) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, connection->fd, &event);
}

/* Connections of one partition share the bytes of their produce requests; fetches differ in their offsets. */
static struct connection *connect_all(struct leader *leaders, uint32_t partitions) {
    struct connection *all = calloc((size_t)wanted.connections, sizeof *all);
    struct request *of_partition = calloc(partitions, sizeof *of_partition);
    struct bytes batch = {0};
    if (all == NULL || of_partition == NULL)
        fail("no memory for %ld connections", wanted.connections);
    records_each = build_batch(&batch, (size_t)wanted.record_bytes, (size_t)wanted.batch_bytes,
                               (int64_t)(now_ns(CLOCK_REALTIME) / 1000000));
    batch_size = batch.size;
    int produces = strcmp(wanted.mode, "produce") == 0;
    for (long number = 0; number < wanted.connections; number++) {
        struct connection *connection = &all[number];
        uint32_t partition = (uint32_t)number % partitions;
        if (produces && of_partition[partition].rest.at == NULL)
            of_partition[partition] = produce_request(wanted.topic, partition, (int16_t)wanted.acks, &batch);
        connection->request = produces ? of_partition[partition]
                                       : fetch_request(wanted.topic, partition, (uint32_t)wanted.max_bytes);
        connection->partition = partition;
        connection->fd = connect_to(leaders[partition].host, leaders[partition].port);
        watch(connection);
    }
    return all;
}

/* An idle connection has asked once, so that the broker has made all it makes for one; it has no request. */
static void connect_idle(void) {
    struct request question = api_versions_request();
    for (long number = 0; number < wanted.idle; number++) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (connection == NULL)
            fail("no memory for %ld idle connections", wanted.idle);
        size_t size;
        connection->fd = connect_to(wanted.host, (int)wanted.port);
        connection->request.key = API_VERSIONS;
        free(ask(connection->fd, &question, &size));
        watch(connection);
    }
}

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ── a run ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void ready(struct connection *connection, uint32_t events) {
    if (connection->request.key == API_VERSIONS) { /* nothing is owed to it but its end */
        done.lost++;
        epoll_ctl(poll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
        return;
    }
    if (events & ~(uint32_t)EPOLLOUT && receive(connection, answered) != 0)
        fail("the broker closed connection %d", connection->fd);
    push(connection);
}

static void run(struct connection *connections) {
    struct epoll_event events[READY_MAX];
    uint64_t now = now_ns(CLOCK_MONOTONIC), heard = now;
    until = now + (uint64_t)(wanted.seconds * (double)SECOND);
    for (long number = 0; connections && number < wanted.connections; number++) {
        for (long request = 0; request < wanted.in_flight; request++)
            issue_next(&connections[number], now);
        push(&connections[number]);
    }
    while (unanswered || (connections == NULL && now < until)) {
        int count = epoll_wait(poll_fd, events, READY_MAX, 100);
        for (int each = 0; each < count; each++)
            ready(events[each].data.ptr, events[each].events);
        now = now_ns(CLOCK_MONOTONIC);
        if (count > 0)
            heard = now;
        else if (unanswered && now - heard > SILENCE_S * SECOND)
            fail("no answer for %d seconds", SILENCE_S);
    }
}

static void print(double seconds, double cpu) {
    printf("{\"mode\": \"%s\", \"connections\": %ld, \"in_flight\": %ld, ", wanted.mode, wanted.connections, wanted.in_flight);
    printf("\"requests\": %" PRIu64 ", \"records\": %" PRIu64 ", \"bytes\": %" PRIu64 ", ", done.requests, done.records,
           done.bytes);
    printf("\"seconds\": %.6f, \"rate\": %.1f, \"mb_s\": %.2f, ", seconds, (double)done.requests / seconds,
           (double)done.bytes / (1 << 20) / seconds);
    printf("\"p50\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, ", percentile(&done.times, 0.5), percentile(&done.times, 0.99),
           percentile(&done.times, 0.999));
    printf("\"idle\": %ld, \"lost\": %" PRIu64 ", \"cpu\": %.4f, \"core\": %.3f}\n", wanted.idle, done.lost, cpu,
           cpu / seconds);
}

static void parse(int count, char **words) {
    struct {
        const char *name;
        long *number;
    } numbers[] = {
        {"port", &wanted.port},           {"connections", &wanted.connections}, {"in_flight", &wanted.in_flight},
        {"idle", &wanted.idle},           {"acks", &wanted.acks},               {"batch_bytes", &wanted.batch_bytes},
        {"record_bytes", &wanted.record_bytes}, {"max_bytes", &wanted.max_bytes}, {"bytes", &wanted.bytes},
        {"wait", &wanted.wait},
    };
    const size_t known = sizeof numbers / sizeof *numbers;
    wanted.mode = count > 1 ? words[1] : "";
    if (strcmp(wanted.mode, "produce") && strcmp(wanted.mode, "fetch") && strcmp(wanted.mode, "idle"))
        fail("say produce, fetch or idle, and then name=value …");
    for (int word = 2; word < count; word++) {
        char *value = strchr(words[word], '=');
        size_t which = 0;
        if (value == NULL)
            fail("%s is no name=value", words[word]);
        *value++ = 0;
        while (which < known && strcmp(words[word], numbers[which].name))
            which++;
        if (which < known)
            *numbers[which].number = atol(value);
        else if (strcmp(words[word], "host") == 0)
            wanted.host = value;
        else if (strcmp(words[word], "topic") == 0)
            wanted.topic = value;
        else if (strcmp(words[word], "seconds") == 0)
            wanted.seconds = atof(value);
        else
            fail("%s is no name that is known", words[word]);
    }
    if (wanted.connections < 1 || wanted.in_flight < 1 || wanted.in_flight > IN_FLIGHT_MAX)
        fail("at least one connection, and 1 to %d in flight", IN_FLIGHT_MAX);
    if (strlen(wanted.topic) > NAME_MAX_BYTES)
        fail("a topic's name has %d letters at most", NAME_MAX_BYTES);
    if (strcmp(wanted.mode, "fetch") == 0)
        wanted.in_flight = 1; /* where the next one begins is in the answer */
}

int main(int count, char **words) {
    static struct leader leaders[PARTITIONS_MAX];
    parse(count, words);
    raise_descriptor_limit();
    poll_fd = epoll_create1(0);
    struct connection *connections = NULL;
    if (strcmp(wanted.mode, "idle") != 0)
        connections = connect_all(leaders, find_leaders(leaders));
    if (wanted.bytes)
        left = ((uint64_t)wanted.bytes + batch_size - 1) / batch_size;
    connect_idle();
    if (wanted.wait) {
        printf("connected\n");
        fflush(stdout);
        if (getchar() == EOF)
            return 0;
    }
    double cpu = cpu_s();
    uint64_t began = now_ns(CLOCK_MONOTONIC);
    run(connections);
    print((double)(now_ns(CLOCK_MONOTONIC) - began) / (double)SECOND, cpu_s() - cpu);
    return 0;
}
