/* A network thread (Kafka's Processor), and what it says to the node's thread and is told by it.

     node's thread                                      network thread
     tell, then flush_commands ──▶ commands ──▶         adopt, send, mute, close …
     take_delivery             ◀── frames, notices ◀──  whole frames; what has happened to a connection

   Laws:
   - Nothing in here knows Python: processor.c does not include it, so a thread cannot touch an object.
   - A Connection is made and freed by the node's thread; between ADOPT and the notice CLOSED or RELEASED all but its
     `seat`, its atomics and what is marked as the node's belongs to the network thread, and so does its descriptor.
     Whoever polls a descriptor closes it.
   - After RELEASE the node says nothing but CLOSE, since the thread may have let go of it already.
   - All that is said of one connection is heard in the order in which it was said.

   Read next: processor.c, then request_channel.c, where Python comes in. */

#ifndef ANDIRON_PROCESSOR_H
#define ANDIRON_PROCESSOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PIECE ((size_t)256 * 1024) /* the most that is sent to one connection before it is another's turn: carrier.py */
#define SMALL ((size_t)16 * 1024)  /* of a large frame, before more is had for it: inbox.py */
#define BUSY ((size_t)256 * 1024)  /* a larger frame needs room: inbox.py, room.py */

typedef struct Processor Processor;

/* Memory that was received into. The node may write into the frames in it; it is freed with the last view of it. */
typedef struct Chunk {
    size_t capacity, used;
    void *exporter; /* the node's, while it takes a delivery */
    uint8_t bytes[];
} Chunk;

/* A part of the output: bytes, or a slice of a file that has a descriptor of its own. */
typedef struct Item {
    struct Item *next;
    int file; /* -1: bytes */
    int by_sendfile; /* as long as more than a piece of it is left */
    int64_t position; /* in the file, or in bytes */
    size_t left;
    uint8_t bytes[];
} Item;

typedef struct Connection {
    int seat, fd;
    Processor *processor;
    size_t frame_bytes_max;
    int release_said, close_said; /* the node's */

    uint8_t *held; /* the beginning of a small frame */
    size_t held_length, held_room;
    Chunk *large; /* a frame that has its memory to itself, */
    size_t large_length, large_needed; /* and how much of how much is there */
    size_t granted; /* of the room that all share */
    size_t earned; /* the largest frame of late: as much is had at once for the next */
    uint64_t handed; /* bytes of frames given to the node */
    uint32_t interest; /* what is polled for */
    int muted, ended, asks_room, halted, releasing, gone, blocked, tells_sent, is_sending;
    Item *first, *last;
    struct Connection *next_sender;

    _Atomic uint64_t taken; /* of `handed`, by the node */
    _Atomic int waits_for_taking;
    _Atomic uint64_t received, sent;
} Connection;

enum Word { ADOPT, SEND, MUTE, UNMUTE, GRANT, LEAVE_ROOM, TELL_SENT, GO_ON, RELEASE, CLOSE, STOP };

typedef struct Command {
    enum Word word;
    Connection *connection;
    Item *first, *last;
    uint64_t value;
} Command;

/* ENDED comes in its place after the frames; BROKEN and what follows count at once. */
enum Kind { ENDED, BAD_SIZE, BROKEN, UNSENT, SLICE_LOST, ROOM_WANTED, ROOM_LEFT, SENT_ALL, RELEASED, CLOSED };

typedef struct Notice {
    Connection *connection;
    enum Kind kind;
    uint64_t value, more;
} Notice;

typedef struct Frame {
    Connection *connection;
    Chunk *chunk;
    size_t offset, length;
} Frame;

/* A list that grows; who cannot have memory for what is said ends the process, which the log is made to survive. */
typedef struct List {
    void *items;
    size_t count, room;
} List;

void *list_add(List *list, size_t each); /* a place at its end */
void list_move(List *from, List *to, size_t each);

typedef struct Delivery {
    List frames, notices, chunks;
} Delivery;

/* Wakes whoever polls its descriptor edge-triggered, once for all that happens until it is heard. */
typedef struct Bell {
    int fd;
    _Atomic int rung;
} Bell;

int bell_make(Bell *bell);
void bell_ring(Bell *bell);

/* For the node's thread. */
Processor *processor_start(Bell *node); /* NULL and errno */
void tell(Processor *processor, Command command);
void flush_commands(Processor *processor);
void take_delivery(Processor *processor, Delivery *delivery);
uint64_t processor_idle_ns(Processor *processor);
uint64_t processor_sendfile_bytes(Processor *processor); /* sent without a copy */
void processor_stop(Processor *processor); /* waits for its end; what it had is left to be freed */
void processor_free(Processor *processor);

Connection *connection_make(Processor *processor, int seat, int fd, size_t frame_bytes_max);
void connection_free(Connection *connection); /* closes a descriptor that is still open */
Item *item_make(size_t length); /* bytes; NULL if there is no memory */
void items_free(Item *first);

#endif
