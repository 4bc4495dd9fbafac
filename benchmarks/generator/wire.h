/* Kafka's wire protocol, as much of it as a load needs, in versions that every broker of the last years serves:

     Produce 9 · Fetch 12 · Metadata 9 · ApiVersions 0        the first three flexible (KIP-482)

   A frame is `size | key, version, correlation | client, tags | body`. Its first twelve bytes are the HEAD: they differ
   from request to request, and the rest of a produce request never does. */

#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { PRODUCE = 0, FETCH = 1, METADATA = 3, API_VERSIONS = 18 };
enum { HEAD = 12, NAME_MAX_BYTES = 100, PARTITIONS_MAX = 1024 };

/* Bytes that grow. */
struct bytes {
    uint8_t *at;
    size_t size, room;
};

/* All of a request after its HEAD. */
struct request {
    int16_t key, version;
    struct bytes rest;
    size_t offset_at; /* of a fetch: where the offset stands in `rest` */
};

/* Where a partition is led. */
struct leader {
    char host[256];
    int port;
};

uint32_t read_u32(const uint8_t *at);
uint64_t read_u64(const uint8_t *at);
void write_u32(uint8_t *at, uint32_t number);
void write_u64(uint8_t *at, uint64_t number);

/* A record batch (magic 2) of equal records, as many as fit into `batch_bytes` and one at least. Returns how many. */
uint32_t build_batch(struct bytes *batch, size_t record_bytes, size_t batch_bytes, int64_t now_ms);

struct request produce_request(const char *topic, uint32_t partition, int16_t acks, const struct bytes *batch);
struct request fetch_request(const char *topic, uint32_t partition, uint32_t max_bytes);
struct request metadata_request(const char *topic);
struct request api_versions_request(void);
void write_head(uint8_t *head, const struct request *request, uint32_t correlation);

/* What a produce request with one partition was answered: the error, and the offset of its first record. */
int16_t read_produce_answer(const uint8_t *answer, size_t size, int64_t *base_offset);

/* What a fetch of one partition was answered, up to its records: the error, the high watermark, how many bytes of records
   there are; returns where they begin, or 0 where `size` bytes are not enough to tell. */
size_t read_fetch_answer(const uint8_t *answer, size_t size, int16_t *error, int64_t *watermark, uint32_t *records);

/* How many partitions a topic has, and who leads each; 0 if there is no such topic, or one of them has no leader yet. */
uint32_t read_metadata_answer(const uint8_t *answer, size_t size, struct leader *leaders);

#endif
