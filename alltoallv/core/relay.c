#include "relay.h"

#include <string.h>

#include "walk.h"

typedef uint32_t a2av_wire_length;

int a2av_start_large(struct a2av_call *call)
{
    const struct a2av_job *job = call->job;
    int error = 0;
    for (int by = 1; by < call->ranks && !error; by++) {
        int from = a2av_rank_before(call->rank, by, call->ranks);
        if (job->receive_bytes[from] > call->limit)
            error = a2av_start_receive(call, job->receive[from], job->receive_bytes[from], from,
                                       A2AV_TAG_DIRECT);
    }
    for (int by = 1; by < call->ranks && !error; by++) {
        int to = a2av_rank_after(call->rank, by, call->ranks);
        if (job->send_bytes[to] > call->limit) {
            call->counts->payload_bytes += job->send_bytes[to];
            error = a2av_start_send(call, job->send[to], job->send_bytes[to], to,
                                    A2AV_TAG_DIRECT);
        }
    }
    return error;
}

size_t a2av_blocks_of_round(const struct a2av_call *call, const struct a2av_relay *relay,
                            const struct a2av_round *round, size_t *payload)
{
    size_t blocks = 0;
    *payload = 0;
    for (struct a2av_walk walk = a2av_walk(call, round, relay->radix); walk.by < call->ranks;
         a2av_step(&walk)) {
        *payload += relay->slots[walk.by].count;
        blocks++;
    }
    return blocks;
}

void a2av_write_round(const struct a2av_call *call, const struct a2av_relay *relay,
                      const struct a2av_round *round, unsigned char *lengths,
                      unsigned char *data)
{
    const unsigned char *begin = data;
    size_t blocks = 0;
    for (struct a2av_walk walk = a2av_walk(call, round, relay->radix); walk.by < call->ranks;
         a2av_step(&walk)) {
        const struct a2av_slot *slot = &relay->slots[walk.by];
        a2av_wire_length length = (a2av_wire_length)slot->count;
        memcpy(lengths, &length, sizeof length);
        lengths += sizeof length;
        a2av_copy(data, slot->bytes, slot->count);
        data += slot->count;
        blocks++;
    }
    a2av_note_copied(call, blocks, (size_t)(data - begin));
}

static size_t length_at(const unsigned char *lengths, size_t i)
{
    a2av_wire_length length;
    memcpy(&length, lengths + i * sizeof length, sizeof length);
    return length;
}

size_t a2av_data_bytes(const unsigned char *lengths, size_t blocks)
{
    size_t sum = 0;
    for (size_t i = 0; i < blocks; i++)
        sum += length_at(lengths, i);
    return sum;
}

int a2av_read_round(struct a2av_call *call, const struct a2av_relay *relay,
                    const struct a2av_round *round, const unsigned char *lengths,
                    const unsigned char *data)
{
    const unsigned char *begin = data;
    size_t i = 0;
    int error = 0;
    for (struct a2av_walk walk = a2av_walk(call, round, relay->radix);
         walk.by < call->ranks && !error; a2av_step(&walk)) {
        int by = walk.by;
        size_t count = length_at(lengths, i++);
        if (walk.arrives) {
            error = a2av_arrive(call, a2av_rank_before(call->rank, by, call->ranks), data, count);
        } else {
            unsigned char *kept = count ? relay->keep(call, relay->self, by, count) : NULL;
            if (count && !kept)
                return A2AV_NO_MEMORY;
            a2av_copy(kept, data, count);
            relay->slots[by] = (struct a2av_slot){kept, count};
        }
        data += count;
    }
    a2av_note_copied(call, i, (size_t)(data - begin));
    return error;
}

void a2av_relay_free(struct a2av_call *call, struct a2av_relay *relay)
{
    a2av_note_scratch(call, (size_t)call->ranks * sizeof *relay->slots + call->arena.held +
                                relay->out.room + relay->in.room);
    a2av_buffer_free(&relay->out);
    a2av_buffer_free(&relay->in);
}
