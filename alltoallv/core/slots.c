#include "slots.h"

#include <stdlib.h>

#include "schedule.h"

struct a2av_slot *a2av_slots_of(const struct a2av_call *call)
{
    struct a2av_slot *slots = calloc((size_t)call->ranks, sizeof *slots);
    for (int by = 0; slots && by < call->ranks; by++) {
        int to = a2av_rank_after(call->rank, by, call->ranks);
        size_t count = call->job->send_bytes[to];
        if (count <= call->limit)
            slots[by] = (struct a2av_slot){call->job->send[to], count};
    }
    return slots;
}
