/* SLOAV2: one message a round and a tunable radix. Large blocks go direct, by a size that
 * sender and receiver both know, so that nobody has to ask. */
#include <stdlib.h>

#include "message.h"
#include "relay.h"
#include "walk.h"

enum { NO_TICKET = -1 };

/* Starts a round of a plan: the size that is received is known, and nothing is sent where there
 * is no block. */
static int start_settled(struct a2av_call *call, const struct a2av_slot *slots,
                         const struct a2av_round *round, struct a2av_mail *mail, int *ticket)
{
    struct a2av_transport *transport = call->transport;
    size_t total, wanted = call->state->received[round->index].payload;
    size_t most = call->settings->piece_bytes;
    int by = a2av_first_distance(round);
    int from = a2av_peer(call, a2av_rank_before(call->rank, by, call->ranks));
    int error = a2av_buffer_reserve(&mail->in, wanted);
    *ticket = NO_TICKET;
    if (!error && wanted > 0)
        error = transport->receive(transport, mail->in.bytes, wanted < most ? wanted : most, from,
                                   A2AV_TAG_ROUND, ticket);
    if (!error)
        error = a2av_compose(call, slots, round, &call->state->sent[round->index], &mail->out,
                             &total);
    if (error || total == 0)
        return error;
    return a2av_start_send(call, mail->out.bytes, total,
                           a2av_rank_after(call->rank, by, call->ranks), A2AV_TAG_ROUND);
}

/* Starts a round: posts the receive of the first part, composes the own message, and sends it. */
static int start_round(struct a2av_call *call, const struct a2av_slot *slots,
                       const struct a2av_round *round, struct a2av_mail *mail, int *ticket)
{
    struct a2av_transport *transport = call->transport;
    size_t total, eager = call->settings->eager_bytes;
    int by = a2av_first_distance(round);
    int to = a2av_rank_after(call->rank, by, call->ranks);
    int from = a2av_rank_before(call->rank, by, call->ranks);
    if (call->state->settled)
        return start_settled(call, slots, round, mail, ticket);
    int error = a2av_buffer_reserve(&mail->in, eager);
    if (!error)
        error = transport->receive(transport, mail->in.bytes, eager, a2av_peer(call, from),
                                   A2AV_TAG_ROUND, ticket);
    if (!error)
        error = a2av_compose(call, slots, round, &call->state->sent[round->index], &mail->out,
                             &total);
    if (error)
        return error;
    size_t first = total < eager ? total : eager;
    error = a2av_start_send(call, mail->out.bytes, first, to, A2AV_TAG_ROUND);
    if (!error && total > first)
        error = a2av_start_send(call, mail->out.bytes + first, total - first, to, A2AV_TAG_REST);
    return error;
}

/* Receives the rest of a message, after its first part. */
static int receive_rest(struct a2av_call *call, struct a2av_mail *mail, size_t came, size_t total,
                        int from)
{
    struct a2av_transport *transport = call->transport;
    int tag = call->state->settled ? A2AV_TAG_ROUND : A2AV_TAG_REST, ticket;
    int error = a2av_buffer_reserve(&mail->in, total);
    for (size_t at = came; !error && at < total;) {
        size_t left = total - at, most = call->settings->piece_bytes;
        size_t now = left < most ? left : most;
        error = transport->receive(transport, mail->in.bytes + at, now, from, tag, &ticket);
        if (!error)
            error = transport->wait(transport, ticket, NULL);
        at += now;
    }
    return error;
}

/* Waits for the first part of a round's message, and for the rest if there is one. */
static int end_round(struct a2av_call *call, struct a2av_slot *slots,
                     const struct a2av_round *round, struct a2av_mail *mail, int ticket)
{
    struct a2av_header *received = &call->state->received[round->index];
    int from = a2av_rank_before(call->rank, a2av_first_distance(round), call->ranks);
    size_t came = 0, total = received->payload;
    int error = ticket == NO_TICKET ? 0 : call->transport->wait(call->transport, ticket, &came);
    if (!error && !call->state->settled)
        error = a2av_total_of(call->settings, mail->in.bytes, came, &total);
    if (!error && call->state->settled && came < total && came != call->settings->piece_bytes)
        error = A2AV_WRONG_SIZE;
    if (!error)
        error = receive_rest(call, mail, came, total, a2av_peer(call, from));
    return error ? error
                 : a2av_take_apart(call, slots, round, received, mail->in.bytes, total);
}

/* Runs the rounds of one digit position that are left, or a batch of them. */
static int run_batch(struct a2av_call *call, struct a2av_slot *slots, struct a2av_round *next,
                     bool *more)
{
    struct a2av_round rounds[A2AV_BATCH_MAX];
    int tickets[A2AV_BATCH_MAX];
    int started = 0, weight = next->weight, error = 0, radix = call->state->radix;
    while (*more && !error && started < call->state->mails && next->weight == weight) {
        /* Both sides know which blocks travel: where there are none, no message is sent. */
        if (a2av_walk(call, next, radix).by < call->ranks) {
            rounds[started] = *next;
            error = start_round(call, slots, next, &call->state->mail[started], &tickets[started]);
            started++;
        }
        *more = a2av_next_round(next, radix, call->ranks);
    }
    for (int i = 0; i < started && !error; i++)
        error = end_round(call, slots, &rounds[i], &call->state->mail[i], tickets[i]);
    return error;
}

int a2av_sloav2_rounds(struct a2av_call *call, struct a2av_slot *slots)
{
    const struct a2av_settings *settings = call->settings;
    int radix = settings->radix < call->ranks ? settings->radix : call->ranks;
    radix = radix < 2 ? 2 : radix;
    int mails = settings->batch < radix - 1 ? settings->batch : radix - 1;
    int error = a2av_state_fit(call->state, radix, a2av_rounds(radix, call->ranks), mails);
    /* The sends of a batch are waited for after its receives, before their buffers are written
     * again; direct messages stay under way. */
    size_t direct = call->flight.count;
    struct a2av_round next;
    bool more = a2av_first_round(&next, call->ranks);
    while (more && !error) {
        error = run_batch(call, slots, &next, &more);
        if (!error)
            error = a2av_land_above(call, direct);
    }
    call->state->settled = call->state->planned && !error;
    return error;
}

int a2av_run_sloav2(struct a2av_call *call)
{
    call->limit = call->settings->direct_bytes;
    struct a2av_slot *slots = a2av_slots_of(call);
    if (!slots)
        return A2AV_NO_MEMORY;
    call->state->load = a2av_load_of(call);
    int error = a2av_start_large(call);
    if (!error)
        error = a2av_sloav2_rounds(call, slots);
    if (!error)
        error = a2av_copy_own(call);
    if (!error)
        error = a2av_land(call);
    a2av_note_scratch(call, (size_t)call->ranks * sizeof *slots + call->arena.held +
                                call->flight.room * sizeof *call->flight.tickets +
                                a2av_state_bytes(call->state));
    free(slots);
    call->state->loaded = !error;
    if (!error)
        a2av_state_shrink(call->state);
    return error;
}
