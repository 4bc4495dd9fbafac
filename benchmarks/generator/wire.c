/* The bytes of requests and answers; what each layout means is said in wire.h. */

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT "generator"
#define CORRUPT (-1000) /* no error of Kafka's: the answer is not what its version promises */
#define BATCH_HEADER 61
#define POLYNOMIAL 0x82f63b78u /* CRC-32C */

uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

uint64_t read_u64(const uint8_t *at) { return (uint64_t)read_u32(at) << 32 | read_u32(at + 4); }

void write_u32(uint8_t *at, uint32_t number) {
    for (int byte = 0; byte < 4; byte++)
        at[byte] = (uint8_t)(number >> (24 - 8 * byte));
}

void write_u64(uint8_t *at, uint64_t number) {
    write_u32(at, (uint32_t)(number >> 32));
    write_u32(at + 4, (uint32_t)number);
}

/* ── building ────────────────────────────────────────────────────────────────────────────────────────────────────── */

static uint8_t *more(struct bytes *to, size_t count) {
    if (to->size + count > to->room) {
        to->room = (to->size + count) * 2;
        to->at = realloc(to->at, to->room);
        if (to->at == NULL) {
            perror("generator");
            exit(1);
        }
    }
    to->size += count;
    return to->at + to->size - count;
}

static void put_u8(struct bytes *to, uint8_t number) { *more(to, 1) = number; }
static void put_u32(struct bytes *to, uint32_t number) { write_u32(more(to, 4), number); }
static void put_u64(struct bytes *to, uint64_t number) { write_u64(more(to, 8), number); }

static void put_u16(struct bytes *to, uint16_t number) {
    put_u8(to, (uint8_t)(number >> 8));
    put_u8(to, (uint8_t)number);
}

static void put_uvarint(struct bytes *to, uint64_t number) {
    for (; number > 0x7f; number >>= 7)
        put_u8(to, (uint8_t)(number | 0x80));
    put_u8(to, (uint8_t)number);
}

/* Records count in zigzag: -1 is 1, 1 is 2. */
static void put_varint(struct bytes *to, int64_t number) {
    put_uvarint(to, ((uint64_t)number << 1) ^ (uint64_t)(number >> 63));
}

static void put_bytes(struct bytes *to, const void *bytes, size_t size) { memcpy(more(to, size), bytes, size); }

/* Lengths in flexible versions are one too high, so that 0 can be null. */
static void put_text(struct bytes *to, const char *text) {
    put_uvarint(to, strlen(text) + 1);
    put_bytes(to, text, strlen(text));
}

static void put_count(struct bytes *to, size_t count) { put_uvarint(to, count + 1); }
static void put_no_tags(struct bytes *to) { put_u8(to, 0); }

static uint32_t crc32c(const uint8_t *at, size_t size) {
    uint32_t sum = ~0u;
    while (size--) {
        sum ^= *at++;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
    }
    return ~sum;
}

/* attributes, timestamp delta, offset delta, no key, the value, no headers */
static void put_record(struct bytes *to, uint32_t delta, size_t value_bytes) {
    struct bytes body = {0};
    put_u8(&body, 0);
    put_varint(&body, 0);
    put_varint(&body, delta);
    put_varint(&body, -1);
    put_varint(&body, (int64_t)value_bytes);
    memset(more(&body, value_bytes), 'v', value_bytes);
    put_varint(&body, 0);
    put_varint(to, (int64_t)body.size);
    put_bytes(to, body.at, body.size);
    free(body.at);
}

uint32_t build_batch(struct bytes *batch, size_t record_bytes, size_t batch_bytes, int64_t now_ms) {
    struct bytes records = {0};
    uint32_t count = 0;
    size_t fitting = 0;
    do {
        fitting = records.size;
        put_record(&records, count++, record_bytes);
    } while (records.size + BATCH_HEADER <= batch_bytes);
    if (count > 1) { /* the last one was too much */
        records.size = fitting;
        count--;
    }
    put_u64(batch, 0); /* base offset: the broker's to write */
    put_u32(batch, (uint32_t)(BATCH_HEADER - 12 + records.size));
    put_u32(batch, ~0u); /* leader epoch */
    put_u8(batch, 2);    /* magic */
    size_t crc_at = batch->size;
    put_u32(batch, 0);
    put_u16(batch, 0); /* attributes: not compressed */
    put_u32(batch, count - 1);
    put_u64(batch, (uint64_t)now_ms);
    put_u64(batch, (uint64_t)now_ms);
    put_u64(batch, ~0ull); /* no producer id, */
    put_u16(batch, 0xffff); /* epoch */
    put_u32(batch, ~0u);    /* or sequence */
    put_u32(batch, count);
    put_bytes(batch, records.at, records.size);
    free(records.at);
    write_u32(batch->at + crc_at, crc32c(batch->at + crc_at + 4, batch->size - crc_at - 4));
    return count;
}

static struct request begin(int16_t key, int16_t version, int flexible) {
    struct request request = {.key = key, .version = version};
    put_u16(&request.rest, (uint16_t)strlen(CLIENT)); /* of an older kind than the texts of the body */
    put_bytes(&request.rest, CLIENT, strlen(CLIENT));
    if (flexible)
        put_no_tags(&request.rest);
    return request;
}

struct request produce_request(const char *topic, uint32_t partition, int16_t acks, const struct bytes *batch) {
    struct request request = begin(PRODUCE, 9, 1);
    struct bytes *to = &request.rest;
    put_uvarint(to, 0); /* no transactional id */
    put_u16(to, (uint16_t)acks);
    put_u32(to, 30000);
    put_count(to, 1);
    put_text(to, topic);
    put_count(to, 1);
    put_u32(to, partition);
    put_uvarint(to, batch->size + 1);
    put_bytes(to, batch->at, batch->size);
    put_no_tags(to); /* of the partition, */
    put_no_tags(to); /* the topic, */
    put_no_tags(to); /* the request */
    return request;
}

struct request fetch_request(const char *topic, uint32_t partition, uint32_t max_bytes) {
    struct request request = begin(FETCH, 12, 1);
    struct bytes *to = &request.rest;
    put_u32(to, ~0u);   /* no replica: a consumer */
    put_u32(to, 500);   /* waits so long */
    put_u32(to, 1);     /* for so much */
    put_u32(to, max_bytes);
    put_u8(to, 0);      /* read_uncommitted */
    put_u32(to, 0);     /* no session */
    put_u32(to, ~0u);
    put_count(to, 1);
    put_text(to, topic);
    put_count(to, 1);
    put_u32(to, partition);
    put_u32(to, ~0u);   /* the leader epoch is not checked */
    request.offset_at = to->size;
    put_u64(to, 0);
    put_u32(to, ~0u);
    put_u64(to, ~0ull);
    put_u32(to, max_bytes);
    put_no_tags(to);
    put_no_tags(to);
    put_count(to, 0);   /* nothing is forgotten */
    put_text(to, "");   /* no rack */
    put_no_tags(to);
    return request;
}

struct request metadata_request(const char *topic) {
    struct request request = begin(METADATA, 9, 1);
    struct bytes *to = &request.rest;
    put_count(to, 1);
    put_text(to, topic);
    put_no_tags(to);
    put_u8(to, 0); /* is not created, */
    put_u8(to, 0); /* and nobody's rights are asked for */
    put_u8(to, 0);
    put_no_tags(to);
    return request;
}

struct request api_versions_request(void) { return begin(API_VERSIONS, 0, 0); }

void write_head(uint8_t *head, const struct request *request, uint32_t correlation) {
    write_u32(head, (uint32_t)(HEAD - 4 + request->rest.size));
    write_u32(head + 4, (uint32_t)request->key << 16 | (uint16_t)request->version);
    write_u32(head + 8, correlation);
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A walk through an answer; once it has gone past the end, everything it finds is 0 and `short_of` says so. */
struct walk {
    const uint8_t *at, *end;
    int short_of;
};

static const uint8_t *pass(struct walk *walk, size_t count) {
    static const uint8_t nothing[8];
    if (walk->short_of || count > (size_t)(walk->end - walk->at)) {
        walk->short_of = 1;
        return nothing;
    }
    walk->at += count;
    return walk->at - count;
}

static int16_t take_i16(struct walk *walk) {
    const uint8_t *at = pass(walk, 2);
    return (int16_t)(at[0] << 8 | at[1]);
}

static uint32_t take_u32(struct walk *walk) { return read_u32(pass(walk, 4)); }
static int64_t take_i64(struct walk *walk) { return (int64_t)read_u64(pass(walk, 8)); }

static uint32_t take_uvarint(struct walk *walk) {
    uint32_t number = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        uint8_t byte = *pass(walk, 1);
        number |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

static uint32_t take_count(struct walk *walk) {
    uint32_t number = take_uvarint(walk);
    return number ? number - 1 : 0;
}

static void pass_text(struct walk *walk) { pass(walk, take_count(walk)); }

static void pass_tags(struct walk *walk) {
    for (uint32_t left = take_uvarint(walk); left && !walk->short_of; left--) {
        take_uvarint(walk);
        pass(walk, take_uvarint(walk));
    }
}

int16_t read_produce_answer(const uint8_t *answer, size_t size, int64_t *base_offset) {
    struct walk walk = {answer, answer + size, 0};
    take_u32(&walk); /* correlation */
    pass_tags(&walk);
    take_count(&walk);
    pass_text(&walk);
    take_count(&walk);
    take_u32(&walk);
    int16_t error = take_i16(&walk);
    *base_offset = take_i64(&walk);
    return walk.short_of ? CORRUPT : error;
}

size_t read_fetch_answer(const uint8_t *answer, size_t size, int16_t *error, int64_t *watermark, uint32_t *records) {
    struct walk walk = {answer, answer + size, 0};
    take_u32(&walk); /* correlation */
    pass_tags(&walk);
    take_u32(&walk); /* throttle time */
    *error = take_i16(&walk);
    take_u32(&walk); /* session */
    if (take_count(&walk) == 0 || *error)
        return walk.short_of ? 0 : size;
    pass_text(&walk);
    take_count(&walk);
    take_u32(&walk);
    *error = take_i16(&walk);
    *watermark = take_i64(&walk);
    take_i64(&walk); /* last stable offset */
    take_i64(&walk); /* log start offset */
    for (uint32_t left = take_count(&walk); left && !walk.short_of; left--) {
        pass(&walk, 16); /* an aborted transaction */
        pass_tags(&walk);
    }
    take_u32(&walk); /* preferred replica */
    *records = take_count(&walk);
    return walk.short_of ? 0 : (size_t)(walk.at - answer);
}

uint32_t read_metadata_answer(const uint8_t *answer, size_t size, struct leader *leaders) {
    struct walk walk = {answer, answer + size, 0};
    take_u32(&walk); /* correlation */
    pass_tags(&walk);
    take_u32(&walk); /* throttle time */
    uint32_t brokers = take_count(&walk);
    struct walk first_broker = walk;
    for (uint32_t left = brokers; left && !walk.short_of; left--) {
        take_u32(&walk);
        pass_text(&walk);
        take_u32(&walk);
        pass_text(&walk);
        pass_tags(&walk);
    }
    pass_text(&walk); /* cluster id */
    take_u32(&walk);  /* controller */
    take_count(&walk);
    int16_t error = take_i16(&walk);
    pass_text(&walk);
    pass(&walk, 1); /* is it internal? */
    uint32_t count = take_count(&walk), led = 0;
    for (uint32_t left = count; left && !walk.short_of; left--) {
        error |= take_i16(&walk);
        uint32_t partition = take_u32(&walk), leader = take_u32(&walk);
        take_u32(&walk); /* leader epoch */
        for (int list = 0; list < 3; list++) /* replicas, ISR, those that are offline */
            pass(&walk, 4 * (size_t)take_count(&walk));
        pass_tags(&walk);
        struct walk look = first_broker;
        for (uint32_t broker = brokers; broker && !look.short_of && partition < PARTITIONS_MAX; broker--) {
            uint32_t id = take_u32(&look), length = take_count(&look);
            const uint8_t *host = pass(&look, length);
            uint32_t port = take_u32(&look);
            pass_text(&look); /* rack */
            pass_tags(&look);
            if (id != leader || look.short_of || length >= sizeof leaders->host)
                continue;
            memcpy(leaders[partition].host, host, length);
            leaders[partition].host[length] = 0;
            leaders[partition].port = (int)port;
            led++;
        }
    }
    return walk.short_of || error || led != count ? 0 : count;
}
