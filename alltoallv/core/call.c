#include "call.h"

#include <stdlib.h>
#include <string.h>

static int add_ticket(struct a2av_flight *flight, int **ticket)
{
    if (flight->count == flight->room) {
        size_t room = flight->room ? 2 * flight->room : 16;
        int *grown = realloc(flight->tickets, room * sizeof *grown);
        if (!grown)
            return A2AV_NO_MEMORY;
        flight->tickets = grown;
        flight->room = room;
    }
    *ticket = &flight->tickets[flight->count];
    return 0;
}

static size_t piece(const struct a2av_call *call, size_t left)
{
    return left < call->settings->piece_bytes ? left : call->settings->piece_bytes;
}

int a2av_start_send(struct a2av_call *call, const void *bytes, size_t count, int to, int tag)
{
    const unsigned char *at = bytes;
    int peer = a2av_peer(call, to);
    size_t now;
    do {
        int *ticket, error = add_ticket(&call->flight, &ticket);
        now = piece(call, count);
        if (!error)
            error = call->transport->send(call->transport, at, now, peer, tag, ticket);
        if (error)
            return error;
        call->flight.count++;
        call->counts->messages++;
        at = at ? at + now : at;
        count -= now;
    } while (count > 0);
    return 0;
}

int a2av_start_receive(struct a2av_call *call, void *bytes, size_t count, int from, int tag)
{
    unsigned char *at = bytes;
    int peer = a2av_peer(call, from);
    size_t now;
    do {
        int *ticket, error = add_ticket(&call->flight, &ticket);
        now = piece(call, count);
        if (!error)
            error = call->transport->receive(call->transport, at, now, peer, tag, ticket);
        if (error)
            return error;
        call->flight.count++;
        at = at ? at + now : at;
        count -= now;
    } while (count > 0);
    return 0;
}

int a2av_land_above(struct a2av_call *call, size_t kept)
{
    int first = 0;
    for (size_t i = kept; i < call->flight.count; i++) {
        int error = call->transport->wait(call->transport, call->flight.tickets[i], NULL);
        first = first ? first : error;
    }
    call->flight.count = kept;
    return first;
}

int a2av_land(struct a2av_call *call)
{
    return a2av_land_above(call, 0);
}

int a2av_exchange(struct a2av_call *call, const void *out, size_t out_bytes, int to, void *in,
                  size_t in_bytes, int from, int tag)
{
    int error = a2av_start_receive(call, in, in_bytes, from, tag);
    if (!error)
        error = a2av_start_send(call, out, out_bytes, to, tag);
    return error ? error : a2av_land_above(call, call->kept);
}

int a2av_deliver(struct a2av_call *call, int source, const unsigned char *bytes, uint64_t count)
{
    if (count != call->job->receive_bytes[source])
        return A2AV_WRONG_SIZE;
    a2av_copy(call->job->receive[source], bytes, count);
    return 0;
}

int a2av_arrive(struct a2av_call *call, int source, const unsigned char *bytes, uint64_t count)
{
    if (call->arrive)
        return call->arrive(call, source, bytes, count);
    if (call->job->receive_bytes[source] > call->limit)
        return count == 0 ? 0 : A2AV_WRONG_SIZE;
    return a2av_deliver(call, source, bytes, count);
}

int a2av_peer(const struct a2av_call *call, int rank)
{
    return call->peers ? call->peers[rank] : rank;
}

int a2av_copy_own(struct a2av_call *call)
{
    const struct a2av_job *job = call->job;
    return a2av_deliver(call, call->rank, job->send[call->rank], job->send_bytes[call->rank]);
}

void a2av_note_copied(const struct a2av_call *call, size_t blocks, size_t bytes)
{
    if (call->transport->copied)
        call->transport->copied(call->transport, blocks, bytes);
}

void a2av_note_scratch(struct a2av_call *call, uint64_t bytes)
{
    if (bytes > call->counts->scratch_bytes)
        call->counts->scratch_bytes = bytes;
}
