/* A part of the window has:
 *     numbers of the last call whose strings are there, up and down
 *     for each way and member: where the string is in the area, and its size
 *     an area for each way
 * Nobody overwrites what another may still read: a leader publishes its strings down after it has
 * read all that went up, and a rank publishes the next ones up after it has read all that came
 * down. */
#include "local.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sleep.h"

enum { LINE_BYTES = 64, PREFIX_BYTES = sizeof(uint64_t) };

#define BY_MESSAGE UINT64_MAX

/* How long sleeps last at most, each twice as long as the one before: a rank's own messages get
 * on only while it is awake. */
enum { NAP_FIRST = 1000, NAP_MOST = 32000, NAP_WITH_MESSAGES = 100 };

struct part {
    _Atomic uint32_t published[A2AV_WAYS];
    _Atomic uint32_t sleepers; /* ranks that may sleep until something is published here */
};

struct entry {
    uint64_t at, count;
};

static size_t head_bytes(int members)
{
    size_t bytes = LINE_BYTES + (size_t)A2AV_WAYS * (size_t)members * sizeof(struct entry);
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

size_t a2av_window_bytes(int members)
{
    return head_bytes(members) + (size_t)A2AV_WAYS * A2AV_AREA_BYTES;
}

static unsigned char *part_of(const struct a2av_local *local, int member)
{
    const struct a2av_window *window = local->call->transport->window;
    return window ? window->parts[member] : NULL;
}

static struct entry *entry_of(const struct a2av_local *local, enum a2av_way way, int from, int to)
{
    unsigned char *entries = part_of(local, from) + LINE_BYTES;
    return (struct entry *)entries + ((int)way * local->members + to);
}

unsigned char *a2av_local_area(const struct a2av_local *local, enum a2av_way way, int member)
{
    unsigned char *part = part_of(local, member);
    return part ? part + head_bytes(local->members) + (size_t)way * A2AV_AREA_BYTES : NULL;
}

int a2av_local_open(struct a2av_local *local, struct a2av_call *call,
                    const struct a2av_nodes *nodes)
{
    *local = (struct a2av_local){.call = call, .nodes = nodes};
    local->members = a2av_node_size(nodes, nodes->node);
    size_t n = (size_t)local->members;
    struct a2av_buffer *buffers = calloc(2 * (size_t)A2AV_WAYS * n, sizeof *buffers);
    if (!buffers)
        return A2AV_NO_MEMORY;
    for (int way = 0; way < A2AV_WAYS; way++) {
        local->out[way] = buffers + (size_t)way * n;
        local->in[way] = buffers + (size_t)(A2AV_WAYS + way) * n;
    }
    struct part *own = (struct part *)part_of(local, nodes->place);
    if (own)
        local->number =
            1 + atomic_load_explicit(&own->published[A2AV_DOWN], memory_order_relaxed);
    return 0;
}

void a2av_local_close(struct a2av_local *local)
{
    uint64_t held = 0;
    for (int i = 0; i < 2 * A2AV_WAYS * local->members; i++) {
        held += local->out[0][i].room;
        a2av_buffer_free(&local->out[0][i]);
    }
    a2av_note_scratch(local->call, held + local->call->counts->scratch_bytes);
    free(local->out[0]);
}

unsigned char *a2av_local_room(struct a2av_local *local, enum a2av_way way, int to, size_t room)
{
    struct a2av_buffer *buffer = &local->out[way][to];
    int self = local->nodes->place;
    unsigned char *area = a2av_local_area(local, way, self);
    if (area && room <= A2AV_AREA_BYTES - local->used[way]) {
        entry_of(local, way, self, to)->at = local->used[way];
        local->used[way] += room;
        return area + entry_of(local, way, self, to)->at;
    }
    if (area)
        entry_of(local, way, self, to)->at = BY_MESSAGE;
    if (room > SIZE_MAX - PREFIX_BYTES || a2av_buffer_reserve(buffer, room + PREFIX_BYTES))
        return NULL;
    return buffer->bytes + PREFIX_BYTES;
}

static int tag_of(enum a2av_way way)
{
    return way == A2AV_UP ? A2AV_TAG_UP : A2AV_TAG_DOWN;
}

/* Sends a string as messages: its size and what fits into the first one, then the rest. */
static int send_string(struct a2av_local *local, enum a2av_way way, int to, size_t count)
{
    struct a2av_call *call = local->call;
    unsigned char *bytes = local->out[way][to].bytes;
    size_t total = count + PREFIX_BYTES, eager = call->settings->eager_bytes;
    size_t first = total < eager ? total : eager;
    int rank = a2av_member(local->nodes, local->nodes->node, to);
    uint64_t announced = total;
    memcpy(bytes, &announced, PREFIX_BYTES);
    call->counts->metadata_bytes += PREFIX_BYTES;
    if (to == local->nodes->place)
        return 0;
    int error = a2av_start_send(call, bytes, first, rank, tag_of(way));
    if (!error && total > first)
        error = a2av_start_send(call, bytes + first, total - first, rank, tag_of(way));
    return error;
}

int a2av_local_post(struct a2av_local *local, enum a2av_way way, int to, size_t count)
{
    if (part_of(local, local->nodes->place))
        entry_of(local, way, local->nodes->place, to)->count = count;
    return local->out[way][to].room > 0 ? send_string(local, way, to, count) : 0;
}

void a2av_local_publish(struct a2av_local *local, enum a2av_way way)
{
    struct part *own = (struct part *)part_of(local, local->nodes->place);
    if (!own)
        return;
    /* Either this rank sees who goes to sleep, or the sleeper sees the new number. */
    atomic_store(&own->published[way], local->number);
    if (atomic_load(&own->sleepers) > 0)
        a2av_wake(&own->published[way]);
}

/* Tells whether a number has come; it begins again after 2^32 calls. */
static bool has_come(uint32_t published, uint32_t number)
{
    return published - number < UINT32_MAX / 2;
}

static void nap(const struct a2av_local *local, struct part *part, enum a2av_way way, long most)
{
    atomic_fetch_add(&part->sleepers, 1);
    uint32_t seen = atomic_load(&part->published[way]);
    if (!has_come(seen, local->number))
        a2av_sleep(&part->published[way], seen, most);
    atomic_fetch_sub(&part->sleepers, 1);
}

int a2av_local_await(struct a2av_local *local, enum a2av_way way, int from)
{
    struct a2av_transport *transport = local->call->transport;
    struct part *part = (struct part *)part_of(local, from);
    bool messages = local->call->flight.count > 0;
    long most = messages ? NAP_WITH_MESSAGES : NAP_FIRST;
    int pauses = 0, error = 0;
    while (part && !error && !has_come(atomic_load(&part->published[way]), local->number)) {
        error = transport->pause(transport);
        pauses += pauses <= transport->patience;
        if (!error && transport->patience >= 0 && pauses > transport->patience) {
            nap(local, part, way, most);
            most = !messages && most < NAP_MOST ? 2 * most : most;
        }
    }
    return error;
}

static int receive_string(struct a2av_local *local, enum a2av_way way, int from)
{
    struct a2av_call *call = local->call;
    struct a2av_transport *transport = call->transport;
    struct a2av_buffer *in = &local->in[way][from];
    int rank = a2av_member(local->nodes, local->nodes->node, from), ticket;
    size_t eager = call->settings->eager_bytes, came = 0;
    uint64_t total = 0;
    int error = a2av_buffer_reserve(in, eager);
    if (!error)
        error = transport->receive(transport, in->bytes, eager, rank, tag_of(way), &ticket);
    if (!error)
        error = transport->wait(transport, ticket, &came);
    if (!error && came < PREFIX_BYTES)
        error = A2AV_BAD_MESSAGE;
    if (error)
        return error;
    memcpy(&total, in->bytes, PREFIX_BYTES);
    error = a2av_buffer_reserve(in, total);
    size_t flying = call->flight.count;
    if (!error && total > came)
        error = a2av_start_receive(call, in->bytes + came, total - came, rank, tag_of(way));
    return error ? error : a2av_land_above(call, flying);
}

int a2av_local_fetch(struct a2av_local *local, enum a2av_way way, int from,
                     const unsigned char **bytes, size_t *count)
{
    int self = local->nodes->place;
    int error = from == self ? 0 : a2av_local_await(local, way, from);
    if (error)
        return error;
    if (part_of(local, from)) {
        const struct entry *entry = entry_of(local, way, from, self);
        *bytes = a2av_local_area(local, way, from) + entry->at;
        *count = entry->count;
        if (entry->at != BY_MESSAGE)
            return 0;
    }
    if (from != self && (error = receive_string(local, way, from)))
        return error;
    const struct a2av_buffer *buffer = from == self ? &local->out[way][self]
                                                    : &local->in[way][from];
    uint64_t total;
    memcpy(&total, buffer->bytes, PREFIX_BYTES);
    *bytes = buffer->bytes + PREFIX_BYTES;
    *count = total - PREFIX_BYTES;
    return 0;
}
