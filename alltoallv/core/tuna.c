/* Two-phase Bruck and TuNA, after their papers: an all-reduce for the largest block of all
 * ranks, memory for P blocks of that size, and in each round lengths, then data. TuNA's radix is
 * a parameter; with radix 2 it is two-phase Bruck.
 *   K. Fan et al., Optimizing the Bruck Algorithm for Non-uniform All-to-all Communication, 2022
 *   K. Fan et al., Parameterized Algorithms for Non-uniform All-to-all, 2024 (arXiv 2411.02581)
 */
#include "relay.h"

#include <stdlib.h>

enum { LENGTH_BYTES = sizeof(uint32_t) };

struct grid {
    unsigned char *bytes;
    size_t largest;
};

static unsigned char *keep(struct a2av_call *call, void *self, int by, size_t count)
{
    struct grid *grid = self;
    (void)call;
    return count <= grid->largest ? grid->bytes + (size_t)by * grid->largest : NULL;
}

/* Sets the maximum over all ranks, by dissemination: after round k a rank knows that of the 2^k
 * ranks before it. Returns 0 or an error. */
static int maximum_of_all(struct a2av_call *call, uint64_t *value)
{
    for (int by = 1; by < call->ranks; by = by > call->ranks / 2 ? call->ranks : 2 * by) {
        uint64_t other = 0;
        int error = a2av_exchange(call, value, sizeof *value,
                                  a2av_rank_after(call->rank, by, call->ranks), &other,
                                  sizeof other, a2av_rank_before(call->rank, by, call->ranks),
                                  A2AV_TAG_SIZE);
        if (error)
            return error;
        call->counts->metadata_bytes += sizeof *value;
        *value = other > *value ? other : *value;
    }
    return 0;
}

static int make_grid(struct a2av_call *call, struct a2av_relay *relay, struct grid *grid)
{
    uint64_t largest = 0;
    for (int by = 1; by < call->ranks; by++)
        if (relay->slots[by].count > largest)
            largest = relay->slots[by].count;
    int error = maximum_of_all(call, &largest);
    if (error)
        return error;
    grid->largest = largest;
    if (largest > 0 && (size_t)call->ranks > SIZE_MAX / largest)
        return A2AV_NO_MEMORY;
    grid->bytes = malloc((size_t)call->ranks * largest + 1);
    return grid->bytes ? 0 : A2AV_NO_MEMORY;
}

static int run_round(struct a2av_call *call, struct a2av_relay *relay,
                     const struct a2av_round *round)
{
    int by = a2av_first_distance(round);
    int to = a2av_rank_after(call->rank, by, call->ranks);
    int from = a2av_rank_before(call->rank, by, call->ranks);
    size_t payload, blocks = a2av_blocks_of_round(call, relay, round, &payload);
    size_t head = blocks * LENGTH_BYTES;
    int error = a2av_buffer_reserve(&relay->out, head + payload);
    if (!error)
        error = a2av_buffer_reserve(&relay->in, head);
    if (error)
        return error;
    a2av_write_round(call, relay, round, relay->out.bytes, relay->out.bytes + head);
    error = a2av_exchange(call, relay->out.bytes, head, to, relay->in.bytes, head, from,
                          A2AV_TAG_SIZE);
    if (error)
        return error;
    size_t incoming = a2av_data_bytes(relay->in.bytes, blocks);
    error = a2av_buffer_reserve(&relay->in, head + incoming);
    if (!error)
        error = a2av_exchange(call, relay->out.bytes + head, payload, to, relay->in.bytes + head,
                              incoming, from, A2AV_TAG_ROUND);
    call->counts->payload_bytes += payload;
    call->counts->metadata_bytes += head;
    return error ? error
                 : a2av_read_round(call, relay, round, relay->in.bytes, relay->in.bytes + head);
}

int a2av_run_tuna(struct a2av_call *call, int radix)
{
    struct grid grid = {0};
    struct a2av_relay relay = {.radix = radix, .keep = keep, .self = &grid};
    struct a2av_round round;
    call->limit = A2AV_RELAY_LARGEST;
    relay.slots = a2av_slots_of(call);
    if (!relay.slots)
        return A2AV_NO_MEMORY;
    int error = a2av_start_large(call);
    call->kept = call->flight.count;
    if (!error)
        error = make_grid(call, &relay, &grid);
    for (bool more = a2av_first_round(&round, call->ranks); more && !error;
         more = a2av_next_round(&round, radix, call->ranks))
        error = run_round(call, &relay, &round);
    call->kept = 0;
    if (!error)
        error = a2av_copy_own(call);
    if (!error)
        error = a2av_land(call);
    if (error)
        return error;
    a2av_relay_free(call, &relay);
    a2av_note_scratch(call, call->counts->scratch_bytes + (size_t)call->ranks * grid.largest);
    free(grid.bytes);
    free(relay.slots);
    return 0;
}
