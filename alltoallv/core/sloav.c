/* SLOAV as the dissertation has it (4.1.1): in each round the size of the merged message, then
 * the message: the number of blocks, their lengths, the blocks.
 *
 * Two things differ. Relayed blocks are kept in memory of our own: the dissertation keeps what
 * fits in the caller's send buffer, which MPI does not allow to write. And no rank switches to
 * another algorithm by what it alone receives: the ranks could disagree, and wait for ever. */
#include "relay.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = sizeof(uint32_t), NUMBER_BYTES = sizeof(uint32_t) };

static unsigned char *keep(struct a2av_call *call, void *self, int by, size_t count)
{
    (void)self;
#ifdef A2AV_AS_PRINTED
    /* Only for the test which shows that the printed form overwrites its caller's send buffer. */
    int segment = by < call->ranks - call->rank ? call->rank + by : call->rank + by - call->ranks;
    if (count <= call->job->send_bytes[segment])
        return (unsigned char *)call->job->send[segment];
#else
    (void)by;
#endif
    return a2av_arena_take(&call->arena, count);
}

static int send_and_receive(struct a2av_call *call, struct a2av_relay *relay,
                            const struct a2av_round *round, uint64_t out_bytes, size_t *in_bytes)
{
    int by = a2av_first_distance(round);
    int to = a2av_rank_after(call->rank, by, call->ranks);
    int from = a2av_rank_before(call->rank, by, call->ranks);
    uint64_t announced = 0;
    int error = a2av_exchange(call, &out_bytes, sizeof out_bytes, to, &announced,
                              sizeof announced, from, A2AV_TAG_SIZE);
    *in_bytes = announced;
    if (!error)
        error = a2av_buffer_reserve(&relay->in, announced);
    if (error)
        return error;
    return a2av_exchange(call, relay->out.bytes, out_bytes, to, relay->in.bytes, announced, from,
                         A2AV_TAG_ROUND);
}

static int run_round(struct a2av_call *call, struct a2av_relay *relay,
                     const struct a2av_round *round)
{
    size_t payload, blocks = a2av_blocks_of_round(call, relay, round, &payload);
    size_t head = NUMBER_BYTES + blocks * LENGTH_BYTES, came;
    int error = a2av_buffer_reserve(&relay->out, head + payload);
    if (error)
        return error;
    uint32_t number = (uint32_t)blocks;
    memcpy(relay->out.bytes, &number, sizeof number);
    a2av_write_round(call, relay, round, relay->out.bytes + NUMBER_BYTES,
                     relay->out.bytes + head);
    call->counts->payload_bytes += payload;
    call->counts->metadata_bytes += head + sizeof(uint64_t);
    error = send_and_receive(call, relay, round, head + payload, &came);
    if (error)
        return error;
    const unsigned char *lengths = relay->in.bytes + NUMBER_BYTES;
    if (came < head || memcmp(relay->in.bytes, &number, sizeof number) != 0 ||
        a2av_data_bytes(lengths, blocks) != came - head)
        return A2AV_BAD_MESSAGE;
    return a2av_read_round(call, relay, round, lengths, relay->in.bytes + head);
}

int a2av_sloav_rounds(struct a2av_call *call, struct a2av_slot *slots)
{
    struct a2av_relay relay = {.slots = slots, .radix = 2, .keep = keep};
    struct a2av_round round;
    int error = 0;
    for (bool more = a2av_first_round(&round, call->ranks); more && !error;
         more = a2av_next_round(&round, relay.radix, call->ranks))
        error = run_round(call, &relay, &round);
    if (!error)
        a2av_relay_free(call, &relay);
    return error;
}

int a2av_run_sloav(struct a2av_call *call)
{
    call->limit = A2AV_RELAY_LARGEST;
    struct a2av_slot *slots = a2av_slots_of(call);
    if (!slots)
        return A2AV_NO_MEMORY;
    int error = a2av_start_large(call);
    call->kept = call->flight.count;
    if (!error)
        error = a2av_sloav_rounds(call, slots);
    call->kept = 0;
    if (!error)
        error = a2av_copy_own(call);
    if (!error)
        error = a2av_land(call);
    if (!error)
        free(slots);
    return error;
}
