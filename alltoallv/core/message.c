/* In a call of a plan a message is the blocks alone, once the lengths are known. Otherwise it is
 *     flags     1 byte
 *     total     8 bytes, only with MORE: the size of the whole message
 *     load      3 bytes, only with LOAD: the load that the sender has heard of, if that changed
 *     lengths   of the round's blocks by growing distance, as lengths.h has them; not with REPEAT
 *     blocks
 * REPEAT says that the lengths are those of this round in the previous call: the sender alone
 * decides it, by what it last sent. */
#include "message.h"

#include <string.h>

#include "lengths.h"
#include "walk.h"

enum { REPEAT = 1, MORE = 2, LOAD = 4, PREFIX_BYTES = 1, TOTAL_BYTES = 8 };

static size_t blocks_of(const struct a2av_call *call, const struct a2av_round *round,
                        const struct a2av_slot *slots, size_t *payload)
{
    size_t blocks = 0;
    *payload = 0;
    for (struct a2av_walk walk = a2av_walk(call, round, call->state->radix);
         walk.by < call->ranks; a2av_step(&walk)) {
        *payload += slots[walk.by].count;
        blocks++;
    }
    return blocks;
}

/* Writes the lengths of a round's blocks; returns their end. */
static unsigned char *write_lengths(const struct a2av_call *call, const struct a2av_round *round,
                                    const struct a2av_slot *slots, unsigned char *at)
{
    struct a2av_length_writer writer = {.at = at};
    for (struct a2av_walk walk = a2av_walk(call, round, call->state->radix);
         walk.by < call->ranks; a2av_step(&walk))
        a2av_write_length(&writer, slots[walk.by].count);
    a2av_end_lengths(&writer);
    return writer.at;
}

static void write_blocks(const struct a2av_call *call, const struct a2av_round *round,
                         const struct a2av_slot *slots, unsigned char *at)
{
    for (struct a2av_walk walk = a2av_walk(call, round, call->state->radix);
         walk.by < call->ranks; a2av_step(&walk)) {
        a2av_copy(at, slots[walk.by].bytes, slots[walk.by].count);
        at += slots[walk.by].count;
    }
}

static int compose_planned(struct a2av_call *call, const struct a2av_slot *slots,
                           const struct a2av_round *round, const struct a2av_header *last,
                           struct a2av_buffer *out, size_t *total)
{
    size_t payload, blocks = blocks_of(call, round, slots, &payload);
    if (payload != last->payload)
        return A2AV_WRONG_SIZE;
    int error = a2av_buffer_reserve(out, payload);
    if (error)
        return error;
    write_blocks(call, round, slots, out->bytes);
    a2av_note_copied(call, blocks, payload);
    *total = payload;
    call->counts->payload_bytes += payload;
    return 0;
}

/* Writes flags, total and load; returns their end, which the lengths follow, or the blocks. */
static unsigned char *write_prefix(const struct a2av_call *call, struct a2av_header *last,
                                   unsigned flags, size_t rest, unsigned char *at, size_t *total)
{
    const struct a2av_load_code *load = &call->state->load;
    if (memcmp(&last->load, load, sizeof *load) != 0)
        flags |= LOAD;
    *total = PREFIX_BYTES + rest;
    if (flags & LOAD)
        *total += A2AV_LOAD_BYTES;
    if (*total > call->settings->eager_bytes) {
        flags |= MORE;
        *total += TOTAL_BYTES;
    }
    *at++ = (unsigned char)flags;
    if (flags & MORE) {
        uint64_t whole = *total;
        memcpy(at, &whole, TOTAL_BYTES);
        at += TOTAL_BYTES;
    }
    if (flags & LOAD) {
        memcpy(at, load->of, A2AV_LOAD_BYTES);
        at += A2AV_LOAD_BYTES;
        last->load = *load;
    }
    return at;
}

int a2av_compose(struct a2av_call *call, const struct a2av_slot *slots,
                 const struct a2av_round *round, struct a2av_header *last,
                 struct a2av_buffer *out, size_t *total)
{
    if (call->state->settled)
        return compose_planned(call, slots, round, last, out, total);
    enum { FRONT = PREFIX_BYTES + TOTAL_BYTES + A2AV_LOAD_BYTES };
    size_t payload, blocks = blocks_of(call, round, slots, &payload);
    int error = a2av_buffer_reserve(out, FRONT + blocks * A2AV_LENGTH_BYTES + payload);
    if (error)
        return error;
    unsigned char *lengths = out->bytes + FRONT;
    size_t count = (size_t)(write_lengths(call, round, slots, lengths) - lengths);
    bool repeat = last->known && count == last->count &&
                  memcmp(lengths, last->buffer.bytes, count) == 0;
    if (!repeat && (error = a2av_remember(last, lengths, count, payload)))
        return error;
    count = repeat ? 0 : count;
    unsigned char *at = write_prefix(call, last, repeat ? REPEAT : 0, count + payload, out->bytes,
                                     total);
    memmove(at, lengths, count);
    write_blocks(call, round, slots, at + count);
    a2av_note_copied(call, blocks, payload);
    call->counts->payload_bytes += payload;
    call->counts->metadata_bytes += *total - payload;
    return 0;
}

int a2av_total_of(const struct a2av_settings *settings, const unsigned char *first, size_t came,
                  size_t *total)
{
    *total = came;
    if (came < PREFIX_BYTES)
        return A2AV_BAD_MESSAGE;
    if (!(first[0] & MORE))
        return 0;
    uint64_t whole;
    if (came != settings->eager_bytes)
        return A2AV_BAD_MESSAGE;
    memcpy(&whole, first + PREFIX_BYTES, TOTAL_BYTES);
    *total = whole;
    return whole > came ? 0 : A2AV_BAD_MESSAGE;
}

/* Takes a block that came for a distance: delivers it if it has arrived, or keeps it in `slot`.
 * Returns 0 or an error. */
static int take_block(struct a2av_call *call, struct a2av_slot *slot,
                      const struct a2av_walk *walk, const unsigned char *bytes, size_t count)
{
    if (!walk->arrives) {
        unsigned char *kept = NULL;
        if (count > 0 && !(kept = a2av_arena_take(&call->arena, count)))
            return A2AV_NO_MEMORY;
        a2av_copy(kept, bytes, count);
        *slot = (struct a2av_slot){kept, count};
        return 0;
    }
    int source = a2av_rank_before(call->rank, walk->by, call->ranks);
    return a2av_arrive(call, source, bytes, count);
}

/* Finds the lengths in a message, or in memory if they are those of the previous call. Returns
 * 0 or an error. */
static int find_lengths(const struct a2av_call *call, const struct a2av_round *round,
                        struct a2av_header *last, const unsigned char *message, size_t total,
                        struct a2av_length_reader *reader, const unsigned char **blocks)
{
    bool settled = call->state->settled;
    size_t prefix = settled ? 0 : PREFIX_BYTES + (message[0] & MORE ? TOTAL_BYTES : 0);
    if (!settled && (message[0] & LOAD)) {
        if (total < prefix + A2AV_LOAD_BYTES)
            return A2AV_BAD_MESSAGE;
        memcpy(last->load.of, message + prefix, A2AV_LOAD_BYTES);
        prefix += A2AV_LOAD_BYTES;
    }
    a2av_load_raise(&call->state->load, last->load.of);
    if (settled || (message[0] & REPEAT)) {
        if (!last->known)
            return A2AV_BAD_MESSAGE;
        *reader = (struct a2av_length_reader){last->buffer.bytes,
                                              last->buffer.bytes + last->count, 0};
        *blocks = message + prefix;
        return 0;
    }
    *reader = (struct a2av_length_reader){message + prefix, message + total, 0};
    struct a2av_length_reader ahead = *reader;
    size_t payload = 0;
    for (struct a2av_walk walk = a2av_walk(call, round, call->state->radix);
         walk.by < call->ranks; a2av_step(&walk)) {
        uint64_t length;
        int error = a2av_read_length(&ahead, &length);
        if (error)
            return error;
        payload += length;
    }
    *blocks = ahead.at;
    return a2av_remember(last, reader->at, (size_t)(ahead.at - reader->at), payload);
}

int a2av_take_apart(struct a2av_call *call, struct a2av_slot *slots,
                    const struct a2av_round *round, struct a2av_header *last,
                    const unsigned char *message, size_t total)
{
    struct a2av_length_reader reader;
    const unsigned char *at = message, *end = message + total;
    size_t blocks = 0;
    int error = find_lengths(call, round, last, message, total, &reader, &at);
    for (struct a2av_walk walk = a2av_walk(call, round, call->state->radix);
         walk.by < call->ranks && !error; a2av_step(&walk)) {
        uint64_t count;
        error = a2av_read_length(&reader, &count);
        if (!error && count > (size_t)(end - at))
            error = A2AV_BAD_MESSAGE;
        if (!error) {
            error = take_block(call, &slots[walk.by], &walk, at, (size_t)count);
            at += count;
            blocks++;
        }
    }
    if (!error && at != end)
        error = A2AV_BAD_MESSAGE;
    a2av_note_copied(call, blocks, total);
    return error;
}
