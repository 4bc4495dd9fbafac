/* A network thread: an epoll and the connections that it serves, without the interpreter's lock.

     epoll ─▶ receive ─▶ frames ─▶ the node        once from each that is ready, then all frames in one delivery
     the node ─▶ commands ─▶ send                  a piece to each that has output, then it is another's turn

   Small frames of all connections are received into one chunk, which the node gets with all of them; the beginning of a
   frame at the end of a receive moves to the next chunk. A large frame has a chunk to itself, and is received exactly
   up to its end, so that nothing large is copied. What a client claims is not had before it arrives: memory for a frame grows
   with it, up to what the connection has lately sent in one; and beyond BUSY the node is asked for room (room.py).

   A thread reads ahead of the node by so many bytes of a connection, and no further: the rest stays in the kernel, and the
   client feels it. Where a socket takes no more output, nothing is received from it either.

   Read next: processor.h for the laws. */

#define _GNU_SOURCE
#include "processor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CHUNK ((size_t)128 * 1024)  /* for small frames */
#define SMALL_FRAME (CHUNK / 4)     /* a larger one has a chunk to itself */
#define GROWTH 4                    /* times, at most, while a frame arrives */
#define AHEAD ((uint64_t)256 * 1024) /* bytes of frames that the node has not taken yet, of one connection */
#define EVENTS 256
#define VECTORS 64

struct Processor {
    pthread_t thread;
    int poll, stops;
    Bell bell, *node;
    List pending; /* commands that are not flushed: the node's */
    pthread_mutex_t lock;
    List commands; /* flushed, not heard; under the lock */
    Delivery delivered; /* not taken; under the lock */
    _Atomic uint64_t idle_ns, sendfile_bytes;

    List heard; /* the thread's, from here on */
    Delivery delivery;
    Chunk *chunk;
    Connection *first_sender, *last_sender;
    uint8_t *scratch; /* a piece of files that are copied */
};

/* ── memory ────────────────────────────────────────────────────────────────────────── */

void *list_add(List *list, size_t each) {
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 64;
        list->items = realloc(list->items, list->room * each);
        if (!list->items)
            abort();
    }
    return (uint8_t *)list->items + each * list->count++;
}

void list_move(List *from, List *to, size_t each) {
    if (!to->count) {
        List empty = *to;
        *to = *from;
        *from = empty;
        return;
    }
    for (size_t i = 0; i < from->count; i++)
        memcpy(list_add(to, each), (uint8_t *)from->items + each * i, each);
    from->count = 0;
}

static Chunk *chunk_make(size_t capacity) {
    Chunk *chunk = malloc(sizeof *chunk + capacity);
    if (chunk) {
        chunk->capacity = capacity;
        chunk->used = 0;
        chunk->exporter = NULL;
    }
    return chunk;
}

Item *item_make(size_t length) {
    Item *item = malloc(sizeof *item + length);
    if (item) {
        item->next = NULL;
        item->file = -1;
        item->by_sendfile = 0;
        item->position = 0;
        item->left = length;
    }
    return item;
}

static Item *item_free(Item *item) {
    Item *next = item->next;
    if (item->file >= 0)
        close(item->file);
    free(item);
    return next;
}

void items_free(Item *first) {
    while (first)
        first = item_free(first);
}

static void drop_output(Connection *of) {
    items_free(of->first);
    of->first = of->last = NULL;
}

Connection *connection_make(Processor *processor, int seat, int fd, size_t frame_bytes_max) {
    Connection *made = calloc(1, sizeof *made);
    if (made) {
        made->processor = processor;
        made->seat = seat;
        made->fd = fd;
        made->frame_bytes_max = frame_bytes_max;
    }
    return made;
}

void connection_free(Connection *connection) {
    if (connection->fd >= 0)
        close(connection->fd);
    drop_output(connection);
    free(connection->held);
    free(connection->large);
    free(connection);
}

/* ── bells ─────────────────────────────────────────────────────────────────────────── */

int bell_make(Bell *bell) {
    atomic_store(&bell->rung, 0);
    bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return bell->fd >= 0;
}

void bell_ring(Bell *bell) {
    uint64_t one = 1;
    if (!atomic_exchange(&bell->rung, 1) && write(bell->fd, &one, sizeof one) < 0)
        return; /* it can only be full: it has been rung */
}

/* ── what is said ──────────────────────────────────────────────────────────────────── */

static void notify(Connection *of, enum Kind kind, uint64_t value, uint64_t more) {
    Notice *notice = list_add(&of->processor->delivery.notices, sizeof *notice);
    *notice = (Notice){of, kind, value, more};
}

static void own_chunk(Processor *processor, Chunk *chunk) {
    *(Chunk **)list_add(&processor->delivery.chunks, sizeof(Chunk *)) = chunk;
}

static void hand_over(Connection *of, Chunk *chunk, size_t offset, size_t length) {
    Frame *frame = list_add(&of->processor->delivery.frames, sizeof *frame);
    *frame = (Frame){of, chunk, offset, length};
    of->handed += 4 + length;
}

/* Deliver what there is: one lock and one ring for all of it. */
static void deliver(Processor *processor) {
    Delivery *from = &processor->delivery, *to = &processor->delivered;
    if (!from->frames.count && !from->notices.count)
        return;
    if (processor->chunk && processor->chunk->used) {
        own_chunk(processor, processor->chunk);
        processor->chunk = NULL;
    }
    pthread_mutex_lock(&processor->lock);
    list_move(&from->frames, &to->frames, sizeof(Frame));
    list_move(&from->notices, &to->notices, sizeof(Notice));
    list_move(&from->chunks, &to->chunks, sizeof(Chunk *));
    pthread_mutex_unlock(&processor->lock);
    bell_ring(processor->node);
}

/* ── what is polled for ────────────────────────────────────────────────────────────── */

static int may_receive(const Connection *of) {
    return !of->muted && !of->ended && !of->asks_room && !of->halted && !of->releasing;
}

static void attend(Connection *to) {
    uint32_t wanted = to->blocked ? EPOLLOUT : may_receive(to) ? EPOLLIN : 0;
    if (to->gone || wanted == to->interest)
        return;
    struct epoll_event event = {.events = wanted, .data.ptr = to};
    to->interest = wanted;
    epoll_ctl(to->processor->poll, EPOLL_CTL_MOD, to->fd, &event);
}

static void let_go(Connection *of) {
    if (!of->gone)
        epoll_ctl(of->processor->poll, EPOLL_CTL_DEL, of->fd, NULL);
    of->gone = 1;
}

/* Nothing more can come of it; the node closes it. */
static void break_off(Connection *of, enum Kind kind, uint64_t value, uint64_t more) {
    let_go(of);
    drop_output(of);
    notify(of, kind, value, more);
}

static void end(Connection *of, enum Kind kind, uint64_t value) {
    of->ended = 1;
    notify(of, kind, value, 0);
}

/* Wait for the node if it is too far behind. It may take some at this moment: then one of the two sees the other. */
static void look_ahead(Connection *of) {
    of->halted = of->handed - atomic_load(&of->taken) > AHEAD;
    if (!of->halted)
        return;
    atomic_store(&of->waits_for_taking, 1);
    if (of->handed - atomic_load(&of->taken) <= AHEAD && atomic_exchange(&of->waits_for_taking, 0))
        of->halted = 0; /* or GO_ON is on its way */
}

/* ── receiving ─────────────────────────────────────────────────────────────────────── */

static size_t smaller(size_t one, size_t other) { return one < other ? one : other; }

static size_t larger(size_t one, size_t other) { return one > other ? one : other; }

static uint32_t size_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int lacks_room(const Connection *of) { return of->large_needed > BUSY && of->granted < of->large_needed; }

/* More memory for a large frame that fills what it has; or the wish for room. */
static void widen(Connection *of) {
    if (lacks_room(of)) {
        of->asks_room = 1;
        notify(of, ROOM_WANTED, of->large_needed, 0);
        return;
    }
    size_t grown = larger(of->large->capacity * GROWTH, of->earned);
    Chunk *wider = chunk_make(smaller(of->large_needed, grown));
    if (!wider) {
        end(of, ENDED, ENOMEM);
        return;
    }
    memcpy(wider->bytes, of->large->bytes, of->large_length);
    free(of->large);
    of->large = wider;
}

static void begin_large(Connection *of, const uint8_t *from, size_t length, size_t needed) {
    of->large_needed = needed;
    of->large_length = length;
    size_t capacity = larger(SMALL, length);
    if (!lacks_room(of))
        capacity = larger(capacity, larger(of->earned, length * GROWTH));
    of->large = chunk_make(smaller(needed, capacity));
    if (!of->large) {
        end(of, ENDED, ENOMEM);
        return;
    }
    memcpy(of->large->bytes, from, length);
    if (length == of->large->capacity)
        widen(of);
}

static void hold(Connection *of, const uint8_t *from, size_t length) {
    if (length > of->held_room) {
        free(of->held);
        of->held_room = larger(length, 512);
        of->held = malloc(of->held_room);
        if (!of->held)
            abort();
    }
    memcpy(of->held, from, length);
    of->held_length = length;
}

/* Keep the beginning of a frame. */
static void keep(Connection *of, const uint8_t *from, size_t length) {
    size_t needed = length < 4 ? 4 : 4 + (size_t)size_at(from);
    if (needed > SMALL_FRAME) {
        begin_large(of, from, length, needed);
        return;
    }
    hold(of, from, length);
}

/* Hand over the whole frames in a chunk from `start` to `stop`, and keep the beginning of the next; where that is. */
static size_t cut(Connection *of, Chunk *chunk, size_t start, size_t stop) {
    while (stop - start >= 4) {
        size_t length = size_at(chunk->bytes + start);
        if (length > of->frame_bytes_max) {
            end(of, BAD_SIZE, length);
            hold(of, chunk->bytes + start, 4); /* so that whoever goes on with it finds the same */
            return start;
        }
        if (length > stop - start - 4)
            break;
        hand_over(of, chunk, start + 4, length);
        start += 4 + length;
    }
    if (start < stop)
        keep(of, chunk->bytes + start, stop - start);
    return start;
}

/* How many bytes came; 0 if none, and what that means is seen to. */
static size_t receive_into(Connection *of, uint8_t *at, size_t room) {
    ssize_t count = recv(of->fd, at, room, MSG_DONTWAIT);
    if (count > 0) {
        atomic_fetch_add_explicit(&of->received, (uint64_t)count, memory_order_relaxed);
        return (size_t)count;
    }
    if (count == 0)
        end(of, ENDED, 0);
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        end(of, ENDED, (uint64_t)errno);
    return 0;
}

static void receive_large(Connection *of) {
    Chunk *large = of->large;
    of->large_length += receive_into(of, large->bytes + of->large_length, large->capacity - of->large_length);
    if (of->large_length == of->large_needed) {
        large->used = of->large_needed;
        of->earned = larger(of->earned, of->large_needed);
        of->large = NULL;
        own_chunk(of->processor, large);
        hand_over(of, large, 4, of->large_needed - 4);
        look_ahead(of);
    } else if (of->large_length == large->capacity)
        widen(of);
}

/* The chunk that small frames go to, with room for one after what is held. */
static Chunk *common_chunk(Processor *processor, size_t held) {
    Chunk *chunk = processor->chunk;
    if (chunk && chunk->capacity - chunk->used >= held + SMALL_FRAME)
        return chunk;
    if (chunk)
        own_chunk(processor, chunk); /* there is something in it, or there would be room */
    processor->chunk = chunk_make(CHUNK);
    if (!processor->chunk)
        abort();
    return processor->chunk;
}

static void receive_small(Connection *of) {
    Chunk *chunk = common_chunk(of->processor, of->held_length);
    size_t start = chunk->used, at = start + of->held_length, room = chunk->capacity - at;
    if (of->earned)
        room = smaller(room, SMALL); /* what follows is likely large: little of it is to be copied */
    if (of->held_length)
        memcpy(chunk->bytes + start, of->held, of->held_length);
    size_t count = receive_into(of, chunk->bytes + at, room);
    if (!count)
        return;
    of->held_length = 0;
    chunk->used = cut(of, chunk, start, at + count);
    look_ahead(of);
}

static void receive(Connection *of) {
    if (of->large)
        receive_large(of);
    else
        receive_small(of);
    attend(of);
}

/* ── sending ───────────────────────────────────────────────────────────────────────── */

static void wish_to_send(Connection *of) {
    if (of->is_sending || of->gone)
        return;
    Processor *processor = of->processor;
    of->is_sending = 1;
    of->next_sender = NULL;
    if (processor->last_sender)
        processor->last_sender->next_sender = of;
    else
        processor->first_sender = of;
    processor->last_sender = of;
}

/* As carrier.py has it: a large slice goes by sendfile piece by piece, and the last of it with what follows. */
static int goes_by_sendfile(const Item *item) { return item->by_sendfile && item->left > PIECE; }

/* Fill from a file; 0 if it has less. */
static int copy_slice(const Item *item, uint8_t *to, size_t length) {
    size_t filled = 0;
    while (filled < length) {
        ssize_t count = pread(item->file, to + filled, length - filled, item->position + (int64_t)filled);
        if (count <= 0) {
            if (count < 0 && errno == EINTR)
                continue;
            return 0;
        }
        filled += (size_t)count;
    }
    return 1;
}

/* Send what comes before the next large slice, in one call; how much was `wanted`. */
static ssize_t send_gathered(Connection *to, size_t budget, size_t *wanted) {
    Processor *processor = to->processor;
    struct iovec vectors[VECTORS];
    size_t gathered = 0, copied = 0;
    int count = 0;
    Item *item = to->first;
    for (; item && count < VECTORS && gathered < budget; item = item->next) {
        size_t length = smaller(item->left, budget - gathered);
        if (goes_by_sendfile(item))
            break;
        vectors[count].iov_base = item->bytes + item->position;
        if (item->file >= 0) {
            if (!copy_slice(item, processor->scratch + copied, length)) {
                break_off(to, SLICE_LOST, (uint64_t)item->position, item->left);
                return -1;
            }
            vectors[count].iov_base = processor->scratch + copied;
            copied += length;
        }
        vectors[count++].iov_len = length;
        gathered += length;
    }
    *wanted = gathered;
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = (size_t)count};
    return sendmsg(to->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (item ? MSG_MORE : 0));
}

static ssize_t send_slice(Connection *to) {
    Item *item = to->first;
    off_t position = (off_t)item->position;
    ssize_t count = sendfile(to->fd, item->file, &position, PIECE);
    if (count == 0) {
        break_off(to, SLICE_LOST, (uint64_t)item->position, item->left);
        return -1;
    }
    if (count > 0)
        atomic_fetch_add_explicit(&to->processor->sendfile_bytes, (uint64_t)count, memory_order_relaxed);
    else if (errno != EAGAIN && errno != EINTR && errno != EPIPE && errno != ECONNRESET) {
        item->by_sendfile = 0; /* it is copied, which also tells why */
        errno = EINTR;
    }
    return count;
}

static void strike(Connection *of, size_t count) {
    atomic_fetch_add_explicit(&of->sent, (uint64_t)count, memory_order_relaxed);
    while (of->first && count >= of->first->left) {
        count -= of->first->left;
        of->first = item_free(of->first);
    }
    if (of->first) {
        of->first->left -= count;
        of->first->position += (int64_t)count;
    } else
        of->last = NULL;
}

static void send_piece(Connection *to) {
    size_t budget = PIECE, wanted;
    while (to->first && budget && !to->blocked) {
        int by_sendfile = goes_by_sendfile(to->first);
        wanted = PIECE;
        ssize_t count = by_sendfile ? send_slice(to) : send_gathered(to, budget, &wanted);
        if (to->gone)
            return;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            break_off(to, UNSENT, (uint64_t)errno, 0);
            return;
        }
        size_t sent = count < 0 ? 0 : (size_t)count;
        strike(to, sent);
        budget -= smaller(sent, budget);
        to->blocked = sent < wanted;
    }
}

static void forget_sender(Connection *gone) {
    Processor *processor = gone->processor;
    Connection **place = &processor->first_sender, *before = NULL;
    if (!gone->is_sending)
        return;
    while (*place != gone) {
        before = *place;
        place = &before->next_sender;
    }
    *place = gone->next_sender;
    if (processor->last_sender == gone)
        processor->last_sender = before;
    gone->is_sending = 0;
}

/* The node may have it back once its output is gone. */
static void release_if_done(Connection *of) {
    if (of->releasing && !of->gone && !of->first) {
        let_go(of);
        forget_sender(of);
        notify(of, RELEASED, 0, 0);
    }
}

static void send_due(Connection *to) {
    send_piece(to);
    if (to->gone)
        return;
    if (!to->first) {
        if (to->tells_sent)
            notify(to, SENT_ALL, 0, 0);
        to->tells_sent = 0;
        release_if_done(to);
    } else if (!to->blocked)
        wish_to_send(to);
    attend(to);
}

/* A piece for each that has output, in turn. */
static void send_round(Processor *processor) {
    Connection *each = processor->first_sender;
    processor->first_sender = processor->last_sender = NULL;
    while (each) {
        Connection *next = each->next_sender;
        each->is_sending = 0;
        if (!each->gone)
            send_due(each);
        each = next;
    }
}

/* ── commands ──────────────────────────────────────────────────────────────────────── */

/* What the loop had received of it is in `large`; whole frames may be among that. */
static void adopt(Connection *connection) {
    Processor *processor = connection->processor;
    struct epoll_event event = {.events = connection->interest = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(processor->poll, EPOLL_CTL_ADD, connection->fd, &event) < 0) {
        connection->gone = 1;
        notify(connection, BROKEN, (uint64_t)errno, 0);
        return;
    }
    Chunk *received = connection->large;
    connection->large = NULL;
    if (received) {
        own_chunk(processor, received);
        cut(connection, received, 0, received->used);
        look_ahead(connection);
        attend(connection);
    }
}

static void queue_output(Connection *of, Item *first, Item *last) {
    if (of->gone) {
        items_free(first);
        return;
    }
    if (of->last)
        of->last->next = first;
    else
        of->first = first;
    of->last = last;
    if (!of->blocked)
        wish_to_send(of);
}

static void close_connection(Connection *connection) {
    let_go(connection);
    forget_sender(connection);
    close(connection->fd);
    connection->fd = -1;
    notify(connection, CLOSED, 0, 0);
}

static void leave_room(Connection *of) {
    if (of->granted && !of->large) {
        of->granted = of->earned = 0;
        notify(of, ROOM_LEFT, 0, 0);
    }
}

static void obey(Processor *processor, const Command *command) {
    Connection *of = command->connection;
    switch (command->word) {
    case STOP:
        processor->stops = 1;
        return;
    case ADOPT:
        adopt(of);
        return;
    case SEND:
        queue_output(of, command->first, command->last);
        return;
    case CLOSE:
        close_connection(of);
        return;
    case MUTE:
    case UNMUTE:
        of->muted = command->word == MUTE;
        break;
    case GRANT:
        of->granted = command->value;
        of->asks_room = 0;
        if (of->large && of->large_length == of->large->capacity)
            widen(of);
        break;
    case LEAVE_ROOM:
        leave_room(of);
        break;
    case TELL_SENT:
        of->tells_sent = 1;
        wish_to_send(of);
        break;
    case GO_ON:
        look_ahead(of);
        break;
    case RELEASE:
        of->releasing = 1;
        release_if_done(of);
        break;
    }
    attend(of);
}

static void hear(Processor *processor) {
    if (!atomic_exchange(&processor->bell.rung, 0))
        return;
    pthread_mutex_lock(&processor->lock);
    list_move(&processor->commands, &processor->heard, sizeof(Command));
    pthread_mutex_unlock(&processor->lock);
    for (size_t i = 0; i < processor->heard.count; i++)
        obey(processor, (Command *)processor->heard.items + i);
    processor->heard.count = 0;
}

/* ── the thread ────────────────────────────────────────────────────────────────────── */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int wait_for_events(Processor *processor, struct epoll_event *events) {
    if (processor->first_sender)
        return epoll_wait(processor->poll, events, EVENTS, 0);
    uint64_t began = now_ns();
    int count = epoll_wait(processor->poll, events, EVENTS, -1);
    atomic_fetch_add_explicit(&processor->idle_ns, now_ns() - began, memory_order_relaxed);
    return count;
}

static void on_ready(Connection *connection, uint32_t events) {
    if (connection->gone)
        return;
    if (events & EPOLLIN && may_receive(connection))
        receive(connection);
    else if (events & EPOLLOUT) {
        connection->blocked = 0;
        wish_to_send(connection);
    } else if (events & (EPOLLERR | EPOLLHUP))
        break_off(connection, BROKEN, 0, 0);
}

static void *run(void *given) {
    Processor *processor = given;
    struct epoll_event events[EVENTS];
    while (!processor->stops) {
        int count = wait_for_events(processor, events);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr)
                on_ready(events[i].data.ptr, events[i].events);
        deliver(processor); /* before the sending, which takes longer */
        hear(processor);
        send_round(processor);
        deliver(processor);
    }
    return NULL;
}

static int begin_thread(Processor *processor) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    errno = pthread_create(&processor->thread, NULL, run, processor);
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return (errno = failed) == 0;
}

void processor_free(Processor *processor) {
    if (processor->poll >= 0)
        close(processor->poll);
    if (processor->bell.fd >= 0)
        close(processor->bell.fd);
    Command *said = processor->commands.items;
    for (size_t i = 0; i < processor->commands.count; i++)
        if (said[i].word == SEND)
            items_free(said[i].first);
    Delivery *both[] = {&processor->delivery, &processor->delivered};
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < both[i]->chunks.count; j++)
            free(((Chunk **)both[i]->chunks.items)[j]);
        free(both[i]->frames.items);
        free(both[i]->notices.items);
        free(both[i]->chunks.items);
    }
    free(processor->pending.items);
    free(processor->commands.items);
    free(processor->heard.items);
    free(processor->chunk);
    free(processor->scratch);
    pthread_mutex_destroy(&processor->lock);
    free(processor);
}

Processor *processor_start(Bell *node) {
    Processor *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->node = node;
    made->bell.fd = made->poll = -1;
    pthread_mutex_init(&made->lock, NULL);
    made->scratch = malloc(PIECE);
    made->poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
    if (made->scratch && made->poll >= 0 && bell_make(&made->bell) &&
        epoll_ctl(made->poll, EPOLL_CTL_ADD, made->bell.fd, &event) == 0 && begin_thread(made))
        return made;
    int failed = errno;
    processor_free(made);
    errno = failed;
    return NULL;
}

/* ── for the node's thread ─────────────────────────────────────────────────────────── */

void tell(Processor *processor, Command command) {
    *(Command *)list_add(&processor->pending, sizeof command) = command;
}

void flush_commands(Processor *processor) {
    if (!processor->pending.count)
        return;
    pthread_mutex_lock(&processor->lock);
    list_move(&processor->pending, &processor->commands, sizeof(Command));
    pthread_mutex_unlock(&processor->lock);
    bell_ring(&processor->bell);
}

void take_delivery(Processor *processor, Delivery *delivery) {
    pthread_mutex_lock(&processor->lock);
    list_move(&processor->delivered.frames, &delivery->frames, sizeof(Frame));
    list_move(&processor->delivered.notices, &delivery->notices, sizeof(Notice));
    list_move(&processor->delivered.chunks, &delivery->chunks, sizeof(Chunk *));
    pthread_mutex_unlock(&processor->lock);
}

uint64_t processor_idle_ns(Processor *processor) {
    return atomic_load_explicit(&processor->idle_ns, memory_order_relaxed);
}

uint64_t processor_sendfile_bytes(Processor *processor) {
    return atomic_load_explicit(&processor->sendfile_bytes, memory_order_relaxed);
}

void processor_stop(Processor *processor) {
    tell(processor, (Command){.word = STOP});
    flush_commands(processor);
    pthread_join(processor->thread, NULL);
}
